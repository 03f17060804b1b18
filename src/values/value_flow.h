// SPDX-License-Identifier: Apache-2.0
// Values: what is computed where, and where it is visible.
//
// A value is defined at one position (add{}, tuple{}) and visible, unchanged, at others: through
// get-tuple-elements, loops, calls. Where two values meet (a loop's first and its next), a phi is
// defined. Numbers are XLA's; a number that XLA assigned and took back is a gap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/call_graph.h"
#include "schedule/orders.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "values/positions.h"

namespace stowplan {

using ValueId = Id<struct ValueTag>;

struct Value {
  PositionId position;  // where it is defined
  bool is_phi = false;
  bool is_gone = false;  // a gap among the numbers
};

// `user` reads the value as its operand `operand`, at the part `position` of that operand.
struct Use {
  hlo::InstrId user;
  uint32_t operand = 0;
  PositionId position;
};

class ValueFlow {
 public:
  Positions positions;
  Table<ValueId, Value> values;

  // The values that may be at a position, by number; mostly one.
  [[nodiscard]] std::span<const ValueId> at(PositionId id) const {
    const ValueId& value = single_[id.index];
    if (value.is_none()) return {};
    if (value.index < kManyFlag) return {&value, 1};
    return many_[value.index - kManyFlag];
  }
  [[nodiscard]] hlo::InstrId instruction(ValueId id) const {
    return positions.instruction(values[id].position);
  }
  [[nodiscard]] hlo::ShapeId shape(ValueId id) const {
    return positions.shape(values[id].position);
  }
  // Its positions: the definition first, then the others as XLA lists them.
  [[nodiscard]] std::span<const PositionId> positions_of(ValueId id) const {
    return std::span(seen_).subspan(seen_begins_[id.index],
                                    seen_begins_[id.index + 1] - seen_begins_[id.index]);
  }
  [[nodiscard]] std::span<const Use> uses_of(ValueId id) const {
    return std::span(uses_).subspan(use_begins_[id.index],
                                    use_begins_[id.index + 1] - use_begins_[id.index]);
  }
  // Whether it is visible at the root of the entry computation.
  [[nodiscard]] bool is_live_out(ValueId id) const { return is_live_out_[id.index] != 0; }

 private:
  friend class FlowBuilder;
  static constexpr uint32_t kManyFlag = 0x80000000U;

  std::vector<ValueId> single_;  // by position; a number from kManyFlag on is a row of many_
  std::vector<std::vector<ValueId>> many_;
  std::vector<uint32_t> seen_begins_;
  std::vector<PositionId> seen_;
  std::vector<uint32_t> use_begins_;
  std::vector<Use> uses_;
  std::vector<uint8_t> is_live_out_;
};

Result<ValueFlow> FindValues(const hlo::Module& module, const Orders& orders,
                             const CallGraph& calls);

// Whether a user of a position's instruction reads the value at that position. Tuples and similar
// instructions only pass it on.
bool ReadsPart(hlo::Opcode user, bool is_top);

}  // namespace stowplan
