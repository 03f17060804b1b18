// SPDX-License-Identifier: Apache-2.0
// A TPU's fast memory, whose places the memory-space pass chooses, and what its values look like
// there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assign/assignment.h"
#include "assign/heap.h"
#include "live/analysis.h"

namespace stowplan {

// The values of the slices that `whole` is made of, in the order in which they must lie; none if it
// is not made of slices, or one of them is unknown.
std::vector<ValueId> SlicesOf(const hlo::Module& module, const ValueFlow& flow, ValueId whole);

// An array that is fetched in slices. They must lie side by side, in its place.
struct SlicedGroup {
  struct Slice {
    uint32_t group = 0;
    int64_t offset = 0;  // in the whole
  };
  uint32_t whole = 0;  // the group of the array
  std::vector<Slice> slices;
};

// Finds such arrays in a heap. The whole then takes its place as soon as the first slice does; the
// slices' own groups are not to be placed.
std::vector<SlicedGroup> JoinSlices(const hlo::Module& module, const Analysis& analysis,
                                    HeapInput& input);

// The most bytes that the values take at once, as the memory-space pass counts them: what nothing
// reads takes none, slices last as long as their whole, what a branch needs lasts until that branch
// has read it, and a value that takes over another's place coexists with it for a moment.
int64_t FastMemoryPeak(const hlo::Module& module, const Analysis& analysis,
                       const Assignment& assignment, std::span<const ValueId> values);

}  // namespace stowplan
