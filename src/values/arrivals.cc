// SPDX-License-Identifier: Apache-2.0
#include "values/arrivals.h"

#include <algorithm>
#include <unordered_set>

namespace stowplan {
namespace {

std::vector<ValueId> SortedCopy(std::span<const ValueId> values) {
  std::vector<ValueId> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

}  // namespace

Arrivals::Count& Arrivals::Touch(ValueId id) {
  Count& count = counts_[id.index];
  if (!count.is_touched) {
    count.is_touched = true;
    count.was_here = count.count != 0;
    touched_.push_back(id);
  }
  return count;
}

void Arrivals::Add(std::span<const ValueId> values, uint32_t weight) {
  for (const ValueId id : SortedCopy(values)) {
    Touch(id).count += weight;
    total_ += weight;
    sum_ += uint64_t{weight} * id.index;
  }
}

void Arrivals::Remove(std::span<const ValueId> values, uint32_t weight) {
  for (const ValueId id : values) {
    Touch(id).count -= weight;
    total_ -= weight;
    sum_ -= uint64_t{weight} * id.index;
  }
}

void Arrivals::Update(const ValueRows& rows, size_t input, ValueId slot, uint32_t weight) {
  ValueId& held = slots_[input];
  if (held == slot) return;
  if (rows.IsBeginning(held, slot)) {
    Add(rows.Of(slot).subspan(rows.Of(held).size()), weight);
  } else {
    Remove(rows.Of(held), weight);
    Add(rows.Of(slot), weight);
  }
  held = slot;
}

void Arrivals::Finish() {
  added_.clear();
  has_lost_ = false;
  for (const ValueId id : touched_) {
    const auto found = counts_.find(id.index);
    found->second.is_touched = false;
    const bool is_here = found->second.count != 0;
    if (is_here && !found->second.was_here) added_.push_back(id);
    if (!is_here && found->second.was_here) has_lost_ = true;
    if (!is_here) counts_.erase(found);
  }
  touched_.clear();
}

std::vector<ValueId> Arrivals::Sorted() const {
  std::vector<ValueId> values;
  values.reserve(counts_.size());
  for (const auto& [index, count] : counts_) values.emplace_back(size_t{index});
  std::ranges::sort(values);
  return values;
}

std::vector<ValueId> Arrivals::InOrder(const ValueRows& rows) const {
  std::vector<ValueId> values;
  values.reserve(counts_.size());
  std::unordered_set<uint32_t> known;
  for (const ValueId& slot : slots_) {
    for (const ValueId id : SortedCopy(rows.Of(slot))) {
      if (known.insert(id.index).second) values.push_back(id);
    }
  }
  return values;
}

}  // namespace stowplan
