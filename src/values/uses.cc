// SPDX-License-Identifier: Apache-2.0
// Where each value is seen, and who reads it there.
#include <algorithm>
#include <utility>

#include "values/flow_builder.h"

namespace stowplan {

using hlo::InstrId;
using hlo::Opcode;

bool ReadsPart(Opcode user, bool is_top) {
  switch (user) {
    case Opcode::kGetTupleElement:
    case Opcode::kCopy:
      return is_top;
    case Opcode::kTuple:
    case Opcode::kDomain:
      return false;
    default:
      return true;
  }
}

// Rows that positions still hold, by number.
void FlowBuilder::KeepRows() {
  std::map<uint32_t, ValueId> kept;
  for (ValueId& slot : flow_.single_) {
    if (!ValueRows::IsRow(slot)) continue;
    const auto [place, is_new] = kept.try_emplace(slot.index);
    if (is_new) {
      const std::span<const ValueId> values = rows_.Of(slot);
      place->second = ValueId(size_t{ValueFlow::kManyFlag} + flow_.many_.size());
      std::ranges::sort(flow_.many_.emplace_back(values.begin(), values.end()));
    }
    slot = place->second;
  }
  rows_ = {};
}

void FlowBuilder::FindPositions() {
  const size_t count = flow_.values.size();
  const auto each_sight = [&](auto visit) {
    for (const hlo::CompId computation : orders_.computations) {
      for (const InstrId id : Orders::Of(orders_.listed, module_.computations[computation])) {
        for (uint32_t k = 0; k < flow_.positions.count(id); ++k) {
          const PositionId position = flow_.positions.At(id, k);
          for (const ValueId value : flow_.at(position)) {
            // A value is listed once at the instruction that bears it.
            if (flow_.instruction(value) != id) visit(value, position);
          }
        }
      }
    }
  };
  std::vector<uint32_t>& begins = flow_.seen_begins_;
  begins.assign(count + 1, 0);
  for (size_t v = 0; v < count; ++v) begins[v + 1] = flow_.values[ValueId(v)].is_gone ? 0 : 1;
  each_sight([&](ValueId value, PositionId) { ++begins[value.index + 1]; });
  for (size_t v = 0; v < count; ++v) begins[v + 1] += begins[v];
  flow_.seen_.resize(begins[count]);
  std::vector<uint32_t> next(begins.begin(), begins.end() - 1);
  for (size_t v = 0; v < count; ++v) {
    const Value& value = flow_.values[ValueId(v)];
    if (!value.is_gone) flow_.seen_[next[v]++] = value.position;
  }
  each_sight(
      [&](ValueId value, PositionId position) { flow_.seen_[next[value.index]++] = position; });
}

void FlowBuilder::FindUses() {
  const Positions& positions = flow_.positions;
  // A user that only hands values on still reads them when it is the root of its computation and
  // holds the value.
  std::vector<ValueId> held(module_.instructions.size());  // the last value it was seen to hold
  const auto holds = [&](InstrId user, ValueId value) { return held[user.index] == value; };
  const auto is_root = [&](InstrId id) {
    return module_.computations[module_.instructions[id].parent].root == id;
  };
  // Wide tuples have many users that read only the table: those that may read parts are found once.
  std::vector<uint32_t> part_begins(module_.instructions.size() + 1, 0);
  std::vector<Orders::Read> part_reads;
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    for (const Orders::Read& read : orders_.reads_of(InstrId(i))) {
      if (ReadsPart(module_.instructions[read.user].opcode, false) || is_root(read.user))
        part_reads.push_back(read);
    }
    part_begins[i + 1] = static_cast<uint32_t>(part_reads.size());
  }
  flow_.use_begins_.assign(flow_.values.size() + 1, 0);
  for (size_t v = 0; v < flow_.values.size(); ++v) {
    const ValueId value(v);
    for (const PositionId position : flow_.positions_of(value))
      held[positions.instruction(position).index] = value;
    for (const PositionId position : flow_.positions_of(value)) {
      const InstrId source = positions.instruction(position);
      const bool is_top = positions.is_top(position);
      const std::span<const Orders::Read> reads =
          is_top ? orders_.reads_of(source)
                 : std::span(std::as_const(part_reads))
                       .subspan(part_begins[source.index],
                                part_begins[source.index + 1] - part_begins[source.index]);
      for (const auto& [user, operand] : reads) {
        if (ReadsPart(module_.instructions[user].opcode, is_top) ||
            (is_root(user) && holds(user, value)))
          flow_.uses_.push_back({user, operand, position});
      }
    }
    flow_.use_begins_[v + 1] = static_cast<uint32_t>(flow_.uses_.size());
  }
}

}  // namespace stowplan
