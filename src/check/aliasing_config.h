// SPDX-License-Identifier: Apache-2.0
// What TPU compilers tell the code of an instruction about its own buffers.
#pragma once

#include <cstddef>

#include "stowplan/hlo/module.h"

namespace stowplan::check {

// Whether the code of a custom fusion was made knowing that output `output` (counted in the order
// of its elements) lies on operand `operand`. Such code is no loop over the elements of the result;
// in which order it reads and writes is not public.
bool IsCodeToldOfOverlap(const hlo::Module& module, hlo::InstrId id, size_t operand, size_t output);

}  // namespace stowplan::check
