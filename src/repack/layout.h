// SPDX-License-Identifier: Apache-2.0
// New places for the temporaries of an executable.
//
// What is moved are units (units.h). Units that are alive at the same time get places apart, so no
// kernel sees sharing that it did not have.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "executable/executable.h"
#include "repack/changed.h"
#include "repack/units.h"

namespace stowplan::repack {

struct HeapLayout {
  int64_t allocation = 0;
  int64_t bytes = 0;  // the size that the heap needs now
  int64_t bound = 0;  // no places for these units need less
};

struct Layout {
  std::vector<HeapLayout> heaps;
  std::vector<executable::Slice> values;  // by value; of size 0 if it has no place
  std::vector<executable::Slice> slots;   // by slot of the changed program
  int64_t moved_values = 0;
};

[[nodiscard]] std::expected<Layout, std::string> FindLayout(
    const executable::Executable& executable, const Changed& changed, const Units& units);

}  // namespace stowplan::repack
