// SPDX-License-Identifier: Apache-2.0
#include "executable/sharing.h"

#include <algorithm>
#include <numeric>

#include "base/stable_sort.h"

namespace stowplan::executable {

std::string SharingOf(std::span<const Slot> slots) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < slots.size(); ++i) {
    if (slots[i].slice.size > 0) order.push_back(i);  // nothing shares with an empty slice
  }
  StableSort(order, {}, [&](uint32_t i) { return slots[i].slice; });
  // Slots that overlap are neighbours in the order. Each is described by the first slot, by number,
  // of those that it shares with, and by its distance from there.
  std::vector<uint32_t> leader(slots.size());
  std::iota(leader.begin(), leader.end(), 0U);
  for (size_t begin = 0; begin < order.size();) {
    const Slice& first = slots[order[begin]].slice;
    int64_t reach = first.offset + first.size;
    size_t end = begin + 1;
    while (end < order.size()) {
      const Slice& next = slots[order[end]].slice;
      if (next.allocation != first.allocation || next.offset >= reach) break;
      reach = std::max(reach, next.offset + next.size);
      ++end;
    }
    const uint32_t smallest = *std::min_element(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                                order.begin() + static_cast<std::ptrdiff_t>(end));
    for (size_t i = begin; i < end; ++i) leader[order[i]] = smallest;
    begin = end;
  }
  std::string out;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (leader[i] == i) continue;
    out += std::to_string(i) + ">" + std::to_string(leader[i]) + "+" +
           std::to_string(slots[i].slice.offset - slots[leader[i]].slice.offset) + ";";
  }
  return out;
}

int64_t AlignmentOf(const Program& program, const std::vector<bool>& allocations, int64_t most) {
  int64_t alignment = most;
  for (const Slot& slot : program.slots) {
    const auto allocation = static_cast<size_t>(slot.slice.allocation);
    if (allocation >= allocations.size() || !allocations[allocation]) continue;
    while (alignment > 1 && slot.slice.offset % alignment != 0) alignment /= 2;
  }
  return alignment;
}

}  // namespace stowplan::executable
