// SPDX-License-Identifier: Apache-2.0
// Which positions of an instruction bear values; all others only see values of other instructions.
#include "values/flow_builder.h"

namespace stowplan {

using hlo::InstrId;
using hlo::Opcode;

void FlowBuilder::DefineAt(PositionId id) {
  flow_.single_[id.index] = flow_.values.Add({.position = id});
}

template <class Test>
void FlowBuilder::DefineWhere(InstrId id, Test test) {
  const PositionId top = flow_.positions.top(id);
  for (uint32_t k = 0; k < flow_.positions.count(id); ++k) {
    const PositionId position(size_t{top.index} + k);
    if (test(position)) DefineAt(position);
  }
}

void FlowBuilder::Define(InstrId id) {
  const Positions& positions = flow_.positions;
  const PositionId top = positions.top(id);
  const auto is_tuple = [&](PositionId p) { return module_.shapes.is_tuple(positions.shape(p)); };
  const auto define_parts = [&](std::initializer_list<size_t> parts) {
    DefineAt(top);
    for (const size_t k : parts) {
      if (const PositionId part = Part(top, k); !part.is_none()) DefineAt(part);
    }
  };
  switch (module_.instructions[id].opcode) {
    case Opcode::kBitcast:
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kGetTupleElement:
    case Opcode::kDomain:
    case Opcode::kOptBarrier:
    case Opcode::kAddDependency:
    case Opcode::kCopyDone:
    case Opcode::kAllReduceDone:
      return;
    case Opcode::kParameter: {
      // Others are handed what the callers have.
      const hlo::CompId computation = module_.instructions[id].parent;
      if (!calls_.callers_of(computation).empty() &&
          calls_.context(computation) == CallContext::kControlFlow)
        return;
      break;
    }
    case Opcode::kTuple:
    case Opcode::kCopy:
      DefineAt(top);
      return;
    case Opcode::kCopyStart:
      define_parts({0, 2});
      return;
    case Opcode::kRecvDone:
      define_parts({1});
      return;
    case Opcode::kSend:
      define_parts({1, 2});
      return;
    case Opcode::kAllGatherStart: {
      const PositionId results = Part(top, 1);
      DefineWhere(
          id, [&](PositionId p) { return is_tuple(p) || (!results.is_none() && p >= results); });
      return;
    }
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
      if (is_tuple(top)) DefineAt(top);
      return;
    case Opcode::kCollectivePermuteStart:
      DefineCollectivePermuteStart(id);
      return;
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate: {
      // Behind the operands and the result stands what the operation needs for itself.
      const PositionId context = Part(top, 2);
      DefineWhere(
          id, [&](PositionId p) { return is_tuple(p) || (!context.is_none() && p >= context); });
      return;
    }
    case Opcode::kAsyncDone:
      DefineWhere(id, is_tuple);
      return;
    default:
      break;
  }
  DefineWhere(id, [](PositionId) { return true; });
}

void FlowBuilder::DefineCollectivePermuteStart(InstrId id) {
  const PositionId top = flow_.positions.top(id);
  DefineAt(top);
  for (size_t k = 1;; ++k) {
    const PositionId part = Part(top, k);
    if (part.is_none()) break;
    DefineAt(part);
  }
  const PositionId results = Part(top, 1);
  if (results.is_none()) return;
  // In place: input, output, and where to read and write in them.
  const bool is_in_place = module_.operands_of(id).size() == 4;
  const size_t count = is_in_place ? 1 : module_.operands_of(id).size();
  if (!is_in_place && count <= 1) return;
  for (size_t k = 0;; ++k) {
    const PositionId part = Part(results, k);
    if (part.is_none() || (!is_in_place && k >= count)) break;
    DefineAt(part);
  }
}

void FlowBuilder::DefineAll() {
  for (const hlo::CompId computation : orders_.numbered) {
    for (const InstrId id : Orders::Of(orders_.post_order, module_.computations[computation]))
      Define(id);
  }
}

}  // namespace stowplan
