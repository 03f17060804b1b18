// SPDX-License-Identifier: Apache-2.0
// Packs the temporaries: groups of values that share a place, each alive in some intervals of the
// heap's own clock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assign/can_share.h"
#include "assign/occupancy.h"
#include "live/analysis.h"

namespace stowplan {

// Values in one place: the first was assigned to it, the others took it over.
struct HeapGroup {
  ValueId first;
  int64_t first_size = 0;  // what the first one requested
  int64_t size = 0;        // the largest of all
  // The first value's is the first; no two events have the same time.
  std::vector<HeapInterval> intervals;
  std::vector<ValueId> values;
};

struct HeapInput {
  std::vector<HeapGroup> groups;
  std::vector<ValueId> empty;  // values without bytes
  int64_t end = 0;             // of the clock
};

// Simulates what the values do to a heap when the program runs: `values` are those that go to it,
// `sizes` are the sizes of their buffers, by buffer.
HeapInput SimulateHeap(const hlo::Module& module, const Analysis& analysis,
                       std::span<const ValueId> values, std::span<const int64_t> sizes,
                       ShareRules& share);

// The most bytes that are in use at once. A group counts as much as its first value requested.
int64_t PeakOf(const HeapInput& input);

struct HeapPlan {
  struct Spot {
    uint32_t heap = 0;
    int64_t offset = 0;
    friend bool operator==(const Spot&, const Spot&) = default;
  };
  std::vector<int64_t> sizes;  // by heap: one, or more if a limit requires it
  std::vector<Spot> spots;     // by group

  [[nodiscard]] int64_t total() const;
};

// Groups with `is_placed` are left alone. What would end beyond the limit goes to a further heap,
// unless this heap is empty.
//
// The smaller of two plans: largest first, and longest first.
HeapPlan PackBestFit(const HeapInput& input, int64_t alignment, int64_t limit,
                     std::span<const uint8_t> is_placed);
// In the order of time, each into the smallest hole.
HeapPlan PackTimeSweep(const HeapInput& input, int64_t alignment, int64_t limit,
                       std::span<const uint8_t> is_placed);

}  // namespace stowplan
