// SPDX-License-Identifier: Apache-2.0
#include "advise/breadth_first.h"

#include <algorithm>

namespace stowplan::advise {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;

namespace {

std::vector<InstrId> Distinct(std::span<const InstrId> ids) {
  std::vector<InstrId> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  const auto rest = std::ranges::unique(sorted);
  sorted.erase(rest.begin(), rest.end());
  return sorted;
}

std::span<const InstrId> PredecessorsOf(const Module& module, InstrId id) {
  const hlo::Attribute* attribute =
      module.FindAttribute(id, hlo::AttributeKey::kControlPredecessors);
  if (attribute == nullptr) return {};
  return Module::Rows(module.instruction_pool, attribute->rows());
}

}  // namespace

std::vector<InstrId> BreadthFirst(const Module& module, CompId computation,
                                  std::span<const int64_t> ranks) {
  const hlo::Computation& row = module.computations[computation];
  const size_t first = row.first.index;
  std::vector<int64_t> waits(row.count, 0);
  std::vector<std::vector<InstrId>> users(row.count);
  std::vector<std::vector<InstrId>> successors(row.count);
  std::vector<InstrId> queue;
  queue.reserve(row.count);
  const std::vector<InstrId> listed = module.listed(computation);
  for (const InstrId id : listed) {
    const std::vector<InstrId> operands = Distinct(module.operands_of(id));
    const std::span<const InstrId> before = PredecessorsOf(module, id);
    for (const InstrId operand : operands) users[operand.index - first].push_back(id);
    for (const InstrId other : before) successors[other.index - first].push_back(id);
    waits[id.index - first] = static_cast<int64_t>(operands.size() + before.size());
    if (waits[id.index - first] == 0) queue.push_back(id);
  }
  const auto by_rank = [&](InstrId a, InstrId b) { return ranks[a.index] < ranks[b.index]; };
  for (size_t next = 0; next < queue.size(); ++next) {
    const size_t at = queue[next].index - first;
    for (std::vector<InstrId>* followers : {&users[at], &successors[at]}) {
      std::ranges::stable_sort(*followers, by_rank);
      for (const InstrId id : *followers) {
        if (--waits[id.index - first] == 0) queue.push_back(id);
      }
    }
  }
  return queue;
}

std::vector<int64_t> RanksOf(const Module& module, CompId computation) {
  std::vector<int64_t> ranks(module.instructions.size(), 0);
  int64_t next = 0;
  for (const InstrId id : module.schedule_of(computation)) ranks[id.index] = next++;
  return ranks;
}

bool IsBreadthFirst(const Module& module, CompId computation) {
  return std::ranges::equal(BreadthFirst(module, computation, RanksOf(module, computation)),
                            module.schedule_of(computation));
}

}  // namespace stowplan::advise
