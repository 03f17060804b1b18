// SPDX-License-Identifier: Apache-2.0
// A module's proto with a different schedule, or with further instructions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// The bytes that the module was read from, with its present schedule. All else stays as it was, but
// for the buffer assignment, which belonged to the old schedule and is left out. Requires a module
// that was read from a proto, with the same instructions.
Result<std::string> WriteProtoWithSchedule(const hlo::Module& module);

// By row of a module: the ids, in the proto that it was read from, of what it was copied from.
struct ProtoOrigins {
  std::vector<int64_t> instructions;
  std::vector<int64_t> computations;
  // By row: whether it has another shape than its origin, or fewer attributes. Empty: none has.
  std::vector<uint8_t> is_changed;
};
// The same for a module with copies of instructions and computations, or without some of them.
// Names, ids, operands and control predecessors are the module's, and so is what fusions, loops,
// branches and calls call. If rows are changed, so are shapes, numbers of parameters and of
// elements, and sizes of slices. All else is copied from the origins.
Result<std::string> WriteProtoWithCopies(const hlo::Module& module, const ProtoOrigins& origins);

}  // namespace stowplan
