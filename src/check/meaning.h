// SPDX-License-Identifier: Apache-2.0
// What a part of an instruction's result is: new bytes, or what one of the operands points to.
#pragma once

#include <cstdint>
#include <vector>

#include "check/trees.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

struct Source {
  enum class Kind : uint8_t {
    kNew,      // the instruction writes it
    kOperand,  // it is the part `part` of operand `operand`
    kCallee,   // it is the part `part` of what the called computation returns
  };
  Kind kind = Kind::kNew;
  uint32_t operand = 0;
  uint32_t part = 0;
};

// By part of the instruction's result. Not for while, conditional, call and parameter, which the
// executor knows.
void FindSources(const hlo::Module& module, const Trees& trees, hlo::InstrId id,
                 std::vector<Source>& out);

// Whether an instruction looks at the bytes of its operands. The others only hand places on.
bool ReadsBytes(hlo::Opcode opcode);

// A copy that leaves every byte as it was.
bool KeepsBytes(const hlo::Module& module, hlo::ShapeId from, hlo::ShapeId to);

}  // namespace stowplan::check
