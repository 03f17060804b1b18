// SPDX-License-Identifier: Apache-2.0
#include "values/value_rows.h"

#include <algorithm>
#include <utility>

namespace stowplan {

std::span<const ValueId> ValueRows::Of(const ValueId& slot) const {
  if (slot.is_none()) return {};
  if (!IsRow(slot)) return {&slot, 1};
  const Row& row = RowOf(slot);
  return std::span(lists_[row.list]).first(row.length);
}

bool ValueRows::Equal(ValueId a, ValueId b) const {
  if (a == b) return true;
  if (!IsRow(a) || !IsRow(b)) return false;
  if (RowOf(a).length != RowOf(b).length) return false;
  if (RowOf(a).list == RowOf(b).list) return true;
  const auto sorted = [&](ValueId slot) {
    const std::span<const ValueId> values = Of(slot);
    std::vector<ValueId> copy(values.begin(), values.end());
    std::ranges::sort(copy);
    return copy;
  };
  return sorted(a) == sorted(b);
}

bool ValueRows::IsBeginning(ValueId a, ValueId b) const {
  return IsRow(a) && IsRow(b) && RowOf(a).list == RowOf(b).list &&
         RowOf(a).length <= RowOf(b).length;
}

ValueId ValueRows::Add(Row row) {
  rows_.push_back(row);
  return ValueId(size_t{kFlag} + rows_.size() - 1);
}

ValueId ValueRows::Make(std::span<const ValueId> sorted) {
  if (sorted.empty()) return {};
  if (sorted.size() == 1) return sorted[0];
  lists_.emplace_back(sorted.begin(), sorted.end());
  return Add({static_cast<uint32_t>(lists_.size() - 1), static_cast<uint32_t>(sorted.size())});
}

ValueId ValueRows::Grow(ValueId slot, std::span<const ValueId> more) {
  const Row row = RowOf(slot);
  if (lists_[row.list].size() != row.length) {
    // Another row has grown from this one.
    std::vector<ValueId> list(lists_[row.list].begin(), lists_[row.list].begin() + row.length);
    list.insert(list.end(), more.begin(), more.end());
    lists_.push_back(std::move(list));
    return Add({static_cast<uint32_t>(lists_.size() - 1),
                row.length + static_cast<uint32_t>(more.size())});
  }
  lists_[row.list].insert(lists_[row.list].end(), more.begin(), more.end());
  return Add({row.list, static_cast<uint32_t>(lists_[row.list].size())});
}

}  // namespace stowplan
