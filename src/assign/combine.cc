// SPDX-License-Identifier: Apache-2.0
// The end of an assignment: temporaries of a memory space become one block, after all others, and
// allocations get their numbers.
#include "assign/combine.h"

#include <algorithm>
#include <map>
#include <utility>

#include "assign/contexts.h"
#include "base/checked_math.h"

namespace stowplan {

std::vector<AllocationId> CombiningOrder(const Assignment& assignment) {
  std::vector<AllocationId> order;
  order.reserve(assignment.allocations.size());
  for (size_t a = 0; a < assignment.allocations.size(); ++a) order.emplace_back(a);
  const auto is_temp = [&](size_t k) { return assignment.allocations[order[k]].is_temp(); };
  // XLA swaps from both ends until all temporaries are behind. Their order, and where the last
  // others end up, comes from this.
  size_t low = 0;
  size_t high = order.size();
  while (true) {
    while (low != high && !is_temp(low)) ++low;
    if (low == high) break;
    --high;
    while (low != high && is_temp(high)) --high;
    if (low == high) break;
    std::swap(order[low++], order[high]);
  }
  // Blocks of the SparseCore are numbered before the others.
  const auto first_temp = std::ranges::find_if(
      order, [&](AllocationId id) { return assignment.allocations[id].is_temp(); });
  std::stable_partition(first_temp, order.end(), [&](AllocationId id) {
    return IsSparseCoreSpace(assignment.allocations[id].color);
  });
  return order;
}

void CombineTemporaries(Assignment& assignment, const Rules& rules) {
  const std::vector<AllocationId> order = CombiningOrder(assignment);
  Table<AllocationId, Allocation> allocations;
  std::map<int64_t, AllocationId> open;  // by color: the block that temporaries go to
  std::vector<std::pair<AllocationId, int64_t>> moves(order.size());  // by old: new and base
  for (const AllocationId old : order) {
    Allocation& allocation = assignment.allocations[old];
    const auto row = allocation.is_temp() ? open.find(allocation.color) : open.end();
    if (row == open.end()) {
      if (allocation.is_temp()) open.emplace(allocation.color, allocations.next_id());
      moves[old.index] = {allocations.next_id(), 0};
      allocations.Add(std::move(allocation));
      continue;
    }
    Allocation& block = allocations[row->second];
    if (allocation.size >= rules.heap_limit - std::min(block.size, rules.heap_limit)) {
      row->second = allocations.next_id();
      moves[old.index] = {row->second, 0};
      allocations.Add(std::move(allocation));
      continue;
    }
    // MeasureBuffers saw to it that this fits.
    const int64_t base = *CheckedRoundUp(block.size, rules.AlignmentOf(block.color));
    block.size = base + allocation.size;
    block.values.insert(block.values.end(), allocation.values.begin(), allocation.values.end());
    moves[old.index] = {row->second, base};
  }
  for (Place& place : assignment.places) {
    if (place.allocation.is_none()) continue;
    const auto [id, base] = moves[place.allocation.index];
    place.allocation = id;
    place.offset += base;
  }
  for (size_t a = 0; a < allocations.size(); ++a)
    std::ranges::sort(allocations[AllocationId(a)].values);
  assignment.allocations = std::move(allocations);
}

}  // namespace stowplan
