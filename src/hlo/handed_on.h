// SPDX-License-Identifier: Apache-2.0
// Parts of a fusion's result that are operands, left in place.
//
// TPU compilers spread a collective over the fusions between its start and its done, to compute
// while it is in progress:
//
//     start = (src, dst, flags) fusion(w)             custom call AsyncCollectiveStart in it
//     f = (y, src, dst, dst', flags) fusion(start...)  a product, and an all-gather for dst'
//     done = w' fusion(f...)                          custom call AsyncCollectiveDone in it
//
// `output_to_operand_aliasing` says which parts lie on which operands. The source, the flags and
// the destination are handed on as they are; the collective in the middle is the one that the start
// began, so dst' is the destination too. Nothing reads it before the done.
#pragma once

#include <span>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

struct HandedOn {
  std::span<const int64_t> output;  // index of the part in the result
  size_t operand = 0;
  std::span<const int64_t> input;  // index of the part in the operand
};

// Of a fusion; empty for other instructions.
std::vector<HandedOn> FindHandedOn(const Module& module, InstrId id);

}  // namespace stowplan::hlo
