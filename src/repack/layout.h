// SPDX-License-Identifier: Apache-2.0
// New places for the temporaries of an executable.
//
// What is moved are units: values that must lie together. Values of one buffer do (a loop's, those
// that are updated in place), and so do values that share memory inside one thunk, because kernels
// are compiled for the sharing they saw. The values of a unit keep their distances. Units that are
// alive at the same time get places apart, so no kernel sees sharing that it did not have.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "executable/executable.h"
#include "stowplan/plan.h"

namespace stowplan::repack {

struct HeapLayout {
  int64_t allocation = 0;
  int64_t bytes = 0;  // the size that the heap needs now
  int64_t bound = 0;  // no places for these units need less
};

struct Layout {
  std::vector<HeapLayout> heaps;
  std::vector<int64_t> value_offsets;  // by row of the report's values
  std::vector<int64_t> slot_offsets;   // by slot of the program
  int64_t moved_values = 0;
};

// `planned` has Stowplan's plan as XLA makes it, with the places that the executable has, uses, and
// live ranges; these may be of another order than the executable's. Fails with a sentence if a slot
// cannot be resolved.
[[nodiscard]] std::expected<Layout, std::string> FindLayout(
    const executable::Executable& executable, const PlannedModule& planned);

}  // namespace stowplan::repack
