// SPDX-License-Identifier: Apache-2.0
// What an instruction does besides computing.
#pragma once

#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::order {

// By instruction: whether the world, or another device, notices when it runs. Such instructions
// keep their order, because all devices must start collectives in the same order. Waiting for one
// to end is not an effect.
std::vector<uint8_t> FindEffects(const hlo::Module& module);

// Whether the instruction waits for an operation that an operand has started.
bool IsDone(hlo::Opcode opcode);
bool IsStart(hlo::Opcode opcode);

}  // namespace stowplan::order
