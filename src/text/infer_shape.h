// SPDX-License-Identifier: Apache-2.0
// People who write HLO by hand leave out shapes that follow from the operands.
#pragma once

#include <span>

#include "stowplan/hlo/module.h"

namespace stowplan::text {

// The shape of an instruction whose text has none; none when it does not follow from what is
// written.
hlo::ShapeId InferShape(hlo::Module& module, hlo::Opcode opcode,
                        std::span<const hlo::InstrId> operands,
                        std::span<const hlo::Attribute> attributes);

// The computation whose result is the instruction's: the callee, or the first branch. None for
// instructions that do something else with what they call.
hlo::CompId ResultComputation(const hlo::Module& module, hlo::Opcode opcode,
                              std::span<const hlo::Attribute> attributes);

}  // namespace stowplan::text
