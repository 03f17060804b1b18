// SPDX-License-Identifier: Apache-2.0
// Stack frames as XLA prints them for a module that it read from a proto.
#pragma once

#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

struct PrintedFrames {
  StackFrames table;
  // For each frame of the module (1-based, [0] is none) its number in `table`; 0 for what is not
  // printed.
  std::vector<int32_t> numbers;
};

// XLA drops the table of a proto and rebuilds it from the frames that instructions name:
// computations as stored, their instructions by ascending id, callers before callees, equal rows
// once.
PrintedFrames RenumberFrames(const Module& module);

}  // namespace stowplan::hlo
