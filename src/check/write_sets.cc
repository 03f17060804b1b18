// SPDX-License-Identifier: Apache-2.0
#include "check/write_sets.h"

#include <utility>

namespace stowplan::check {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

bool WriteSets::Visit(CompId id, int64_t& budget,
                      const std::function<void(const Memory::Change&)>& visit) {
  ++visit_;
  struct Frame {
    const List* list;
    size_t next_write = 0;
    size_t next_call = 0;
  };
  std::vector<Frame> frames;
  const auto enter = [&](CompId callee) {
    if (std::exchange(last_visits_[callee.index], visit_) != visit_)
      frames.push_back({.list = &Of(callee)});
  };
  enter(id);
  while (!frames.empty()) {
    if (--budget < 0) return false;
    Frame& frame = frames.back();
    const List& list = *frame.list;
    if (frame.next_call < list.calls.size() && list.calls[frame.next_call].at == frame.next_write) {
      enter(list.calls[frame.next_call++].callee);
    } else if (frame.next_write < list.writes.size()) {
      visit(list.writes[frame.next_write++]);
    } else {
      frames.pop_back();
    }
  }
  return true;
}

const WriteSets::List& WriteSets::Of(CompId id) {
  List& list = lists_[id.index];
  if (std::exchange(list.is_known, true)) return list;
  const hlo::Module& module = plan_.module;
  for (const InstrId instruction : plan_.orders[id.index]) {
    const Opcode opcode = module.instructions[instruction].opcode;
    if (opcode == Opcode::kParameter) continue;
    const bool only_calls =
        opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall;
    if (only_calls || opcode == Opcode::kAsyncStart) {
      for (const CompId callee : module.called_by(instruction))
        list.calls.push_back({.at = list.writes.size(), .callee = callee});
    }
    if (!only_calls && !plan_.IsLoaded(instruction)) AddWrites(instruction, list);
  }
  return list;
}

void WriteSets::AddWrites(InstrId id, List& list) {
  FindSources(plan_.module, plan_.trees, id, sources_);
  for (uint32_t part = 0; part < sources_.size(); ++part) {
    const uint32_t row = plan_.trees.top(id) + part;
    if (sources_[part].kind == Source::Kind::kOperand || !plan_.places.is_known(row)) continue;
    list.writes.push_back(
        {.bytes = plan_.BytesAt(plan_.places.by_row[row], row), .writer = id, .row = row});
  }
}

}  // namespace stowplan::check
