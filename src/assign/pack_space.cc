// SPDX-License-Identifier: Apache-2.0
// Temporaries into heaps, a heap for each memory space.
#include <vector>

#include "assign/assigner.h"
#include "assign/fast_memory.h"
#include "assign/heap.h"

namespace stowplan {

void Assigner::PackTemporaries() {
  // Space 0 comes after the one whose holes it may fill; all others by number.
  if (const auto lending = delayed_.find(rules_.lending_space); lending != delayed_.end()) {
    PackSpace(lending->first, lending->second, share_);
    if (const auto main = delayed_.find(0); main != delayed_.end()) {
      FillHoles(main->second);
      if (main->second.empty()) delayed_.erase(main);
    }
    delayed_.erase(lending);
  }
  for (const auto& [color, values] : delayed_) PackSpace(color, values, share_);
}

void Assigner::PackSpace(int64_t color, std::span<const ValueId> values, ShareRules& share) {
  HeapInput input = SimulateHeap(module_, analysis_, values, measured_.sizes, share);
  assignment_.heap_peaks[color] = PeakOf(input);
  const int64_t alignment = rules_.AlignmentOf(color);
  std::vector<uint8_t> is_placed(input.groups.size(), 0);
  std::vector<SlicedGroup> sliced;
  if (color == rules_.preset_space) sliced = JoinSlices(module_, analysis_, input);
  for (const SlicedGroup& group : sliced) {
    for (const SlicedGroup::Slice& slice : group.slices) is_placed[slice.group] = 1;
  }
  const auto put = [&](ValueId value, AllocationId heap, int64_t offset, int64_t size) {
    assignment_.places[value.index] = {heap, offset, size};
    assignment_.allocations[heap].values.push_back(value);
  };
  const HeapPlan plan = Sweeps(color)
                            ? PackTimeSweep(input, alignment, rules_.heap_limit, is_placed)
                            : PackBestFit(input, alignment, rules_.heap_limit, is_placed);
  const size_t first = assignment_.allocations.size();
  for (const int64_t size : plan.sizes) assignment_.allocations.Add({.size = size, .color = color});
  for (size_t g = 0; g < input.groups.size(); ++g) {
    if (is_placed[g] != 0) continue;
    const HeapPlan::Spot& spot = plan.spots[g];
    for (const ValueId value : input.groups[g].values)
      put(value, AllocationId(first + spot.heap), spot.offset, input.groups[g].size);
  }
  for (const SlicedGroup& group : sliced) {
    const Place whole = assignment_.places[input.groups[group.whole].first.index];
    for (const SlicedGroup::Slice& slice : group.slices) {
      const HeapGroup& row = input.groups[slice.group];
      put(row.first, whole.allocation, whole.offset + slice.offset, row.size);
    }
  }
  for (const ValueId value : input.empty) put(value, AllocationId(first), 0, 0);
  for (const ValueId value : values) is_done_[analysis_.buffers.of(value).index] = 1;
}

// Where nobody says what the memory-space pass chose, we choose. Its block comes first all the
// same, and is there even when it is empty.
void Assigner::PackPresetSpace() {
  const BufferSet& buffers = analysis_.buffers;
  std::vector<ValueId> chosen;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferId id(b);
    const std::span<const ValueId> values = buffers.values_of(id);
    if (ColorOf(id) != rules_.preset_space || buffers.is_live_out[b] != 0 || IsFixed(id)) continue;
    const hlo::CompId computation =
        module_.instructions[analysis_.flow.instruction(values[0])].parent;
    if (classes_[computation.index] != static_cast<uint8_t>(Phase::kGlobal) ||
        analysis_.calls.is_fused[computation.index] != 0)
      continue;
    chosen.insert(chosen.end(), values.begin(), values.end());
  }
  ShareRules share(module_, analysis_, rules_, ShareRules::Planner::kOurs);
  PackSpace(rules_.preset_space, chosen, share);
  for (size_t a = 0; a < assignment_.allocations.size(); ++a)
    assignment_.allocations[AllocationId(a)].is_preset = true;
}

}  // namespace stowplan
