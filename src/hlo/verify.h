// SPDX-License-Identifier: Apache-2.0
// Whether a module is well-formed: what a reader accepts may still make no sense as a program.
//
// Checked are
//   names        computations, and the instructions of each, have different ones;
//   order        operands and control predecessors are of the same computation and come first, in
//                the schedule where there is one; nothing depends on itself; a schedule holds each
//                instruction once;
//   parameters   are numbered from 0 without gaps;
//   shapes       of tuples and their elements, copies, loops, branches, calls, fusions and async
//                operations agree with operands and called computations, layouts and memory
//                spaces apart; layouts fit the dimensions; sizes fit in 64 bits;
//   calls        no computation calls itself, directly or through others;
//   the header   entry layout, aliases and donors agree with the entry computation;
//   aliasing     output_to_operand_aliasing names parts that exist and have equal shapes.
#pragma once

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// All complaints, in the order of their places in the input; none for a well-formed module. Linear
// time.
[[nodiscard]] Diagnostics Verify(const Module& module);

// The same without the header. The header tells the caller of a program what to pass, not what the
// program does: compilers split modules and leave each part the header of the whole.
[[nodiscard]] Diagnostics VerifyProgram(const Module& module);

// Only that calls, loops, branches and async operations agree with what they call: for code that
// walks along them and takes a module from anywhere.
[[nodiscard]] Diagnostics VerifyCalls(const Module& module);

}  // namespace stowplan::hlo
