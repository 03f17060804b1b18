// SPDX-License-Identifier: Apache-2.0
#include "check/write_sets.h"

#include <utility>

namespace stowplan::check {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

// Computations call only those that stand before them. A program in which they nest deep is not
// executed, and does not come here.
const std::vector<Memory::Change>& WriteSets::Of(CompId id) {
  std::vector<Memory::Change>& writes = writes_[id.index];
  if (std::exchange(is_known_[id.index], 1) != 0) return writes;
  const hlo::Module& module = plan_.module;
  for (const InstrId instruction : plan_.orders[id.index]) {
    switch (module.instructions[instruction].opcode) {
      case Opcode::kParameter:
        continue;
      case Opcode::kWhile:
      case Opcode::kConditional:
      case Opcode::kCall:
        AddCalled(instruction, writes);
        continue;
      case Opcode::kAsyncStart:
        AddCalled(instruction, writes);
        break;
      default:
        break;
    }
    if (plan_.IsLoaded(instruction)) continue;
    FindSources(module, plan_.trees, instruction, sources_);
    for (uint32_t part = 0; part < sources_.size(); ++part) {
      const uint32_t row = plan_.trees.top(instruction) + part;
      if (sources_[part].kind == Source::Kind::kOperand || !plan_.places.is_known(row)) continue;
      writes.push_back({.bytes = plan_.BytesAt(plan_.places.by_row[row], row),
                        .writer = instruction,
                        .row = row});
    }
  }
  limit_ -= static_cast<int64_t>(writes.size());
  return writes;
}

void WriteSets::AddCalled(InstrId id, std::vector<Memory::Change>& writes) {
  for (const CompId callee : plan_.module.called_by(id)) {
    if (limit_ < static_cast<int64_t>(writes.size())) {
      limit_ = -1;
      return;
    }
    const std::vector<Memory::Change>& inner = Of(callee);
    writes.insert(writes.end(), inner.begin(), inner.end());
  }
}

}  // namespace stowplan::check
