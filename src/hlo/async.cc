// SPDX-License-Identifier: Apache-2.0
#include "hlo/async.h"

namespace stowplan::hlo {

InstrId AsyncStartOf(const Module& m, InstrId id) {
  // Real chains have a handful of steps; a hostile one shall not cost quadratic time.
  constexpr int kMaxSteps = 100;
  for (int step = 0; m.instructions[id].opcode != Opcode::kAsyncStart; ++step) {
    if (step == kMaxSteps) return {};
    const std::span<const InstrId> operands = m.operands_of(id);
    if (operands.empty()) return {};
    const Opcode opcode = m.instructions[operands[0]].opcode;
    // Operands of a well-formed chain have smaller ids; anything else is not followed.
    if (operands[0] >= id || (opcode != Opcode::kAsyncStart && opcode != Opcode::kAsyncUpdate))
      return {};
    id = operands[0];
  }
  return id;
}

InstrId WrappedInstruction(const Module& m, InstrId id) {
  const InstrId start = AsyncStartOf(m, id);
  if (start.is_none()) return {};
  const std::span<const CompId> called = m.called_by(start);
  if (called.size() != 1) return {};
  const Computation& wrapper = m.computations[called[0]];
  if (wrapper.root.is_none() || m.instructions[wrapper.root].opcode == Opcode::kUnknown) return {};
  for (uint32_t i = 0; i < wrapper.count; ++i) {
    const InstrId instr(wrapper.first.index + i);
    if (instr != wrapper.root && m.instructions[instr].opcode != Opcode::kParameter) return {};
  }
  return wrapper.root;
}

}  // namespace stowplan::hlo
