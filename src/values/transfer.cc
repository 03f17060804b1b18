// SPDX-License-Identifier: Apache-2.0
// What a position that bears no value of its own holds, opcode by opcode.
#include <algorithm>

#include "schedule/async_chain.h"
#include "values/flow_builder.h"

namespace stowplan {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

PositionId FlowBuilder::Part(PositionId tuple, size_t k) const {
  if (tuple.is_none()) return tuple;
  const hlo::ShapeId shape = flow_.positions.shape(tuple);
  if (!module_.shapes.is_tuple(shape) || k >= module_.shapes.elements(shape).size()) return {};
  return flow_.positions.Child(tuple, k);
}

PositionId FlowBuilder::Operand(InstrId id, size_t k) const {
  const std::span<const InstrId> operands = module_.operands_of(id);
  return k < operands.size() ? flow_.positions.top(operands[k]) : PositionId();
}

PositionId FlowBuilder::Root(CompId id) const {
  return flow_.positions.top(module_.computations[id].root);
}

bool FlowBuilder::Set(PositionId to, std::span<const ValueId> values) {
  const ValueId slot = rows_.Make(values);
  if (rows_.Equal(flow_.single_[to.index], slot)) return false;
  flow_.single_[to.index] = slot;
  return true;
}

bool FlowBuilder::Copy(PositionId to, PositionId from) {
  if (to.is_none() || from.is_none()) return false;
  if (rows_.Equal(flow_.single_[to.index], flow_.single_[from.index])) return false;
  flow_.single_[to.index] = flow_.single_[from.index];
  return true;
}

bool FlowBuilder::CopyTree(PositionId to, PositionId from) {
  const bool changed = Copy(to, from);
  return CopyParts(to, from) || changed;
}

bool FlowBuilder::CopyParts(PositionId to, PositionId from) {
  if (to.is_none() || from.is_none()) return false;
  const uint32_t count = std::min(flow_.positions.TreeSize(flow_.positions.shape(to)),
                                  flow_.positions.TreeSize(flow_.positions.shape(from)));
  bool changed = false;
  for (uint32_t k = 1; k < count; ++k) {
    changed |= Copy(PositionId(size_t{to.index} + k), PositionId(size_t{from.index} + k));
  }
  return changed;
}

bool FlowBuilder::CopyLeaves(PositionId to, PositionId from) {
  if (to.is_none() || from.is_none()) return false;
  const uint32_t count = std::min(flow_.positions.TreeSize(flow_.positions.shape(to)),
                                  flow_.positions.TreeSize(flow_.positions.shape(from)));
  bool changed = false;
  for (uint32_t k = 0; k < count; ++k) {
    const PositionId part(size_t{to.index} + k);
    if (module_.shapes.is_tuple(flow_.positions.shape(part))) continue;
    changed |= Copy(part, PositionId(size_t{from.index} + k));
  }
  return changed;
}

bool FlowBuilder::Transfer(InstrId id) {
  const PositionId top = flow_.positions.top(id);
  const std::span<const CompId> called = module_.called_by(id);
  switch (module_.instructions[id].opcode) {
    case Opcode::kBitcast:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kOptBarrier:
    case Opcode::kAllReduceDone:
      return CopyTree(top, Operand(id, 0));
    case Opcode::kCopy:
      return CopyParts(top, Operand(id, 0));
    case Opcode::kGetTupleElement:
      return CopyTree(top, Part(Operand(id, 0), static_cast<size_t>(module_.NumberOr(
                                                    id, hlo::AttributeKey::kIndex, 0))));
    case Opcode::kTuple: {
      bool changed = false;
      for (size_t k = 0; k < module_.operands_of(id).size(); ++k)
        changed |= CopyTree(Part(top, k), Operand(id, k));
      return changed;
    }
    case Opcode::kCall:
      return !called.empty() && CopyTree(top, Root(called[0]));
    case Opcode::kCopyStart:
      return Copy(Part(top, 1), Operand(id, 0));
    case Opcode::kCopyDone:
      return Copy(top, Part(Operand(id, 0), 0));
    case Opcode::kSend:
      return CopyTree(Part(top, 0), Operand(id, 0));
    case Opcode::kRecvDone:
      return CopyTree(Part(top, 0), Part(Operand(id, 0), 0));
    case Opcode::kAllGatherStart: {
      const size_t count = module_.operands_of(id).size();
      if (count == 1) return Copy(Part(top, 0), Operand(id, 0));
      bool changed = false;
      for (size_t k = 0; k < count; ++k) changed |= Copy(Part(Part(top, 0), k), Operand(id, k));
      return changed;
    }
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
      return CopyLeaves(top, Part(Operand(id, 0), 1));
    case Opcode::kCollectivePermuteStart:
      return TransferCollectivePermuteStart(id);
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return TransferAsync(id);
    case Opcode::kParameter:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return Join(id);
    default:
      return false;
  }
}

bool FlowBuilder::TransferCollectivePermuteStart(InstrId id) {
  const PositionId source = Part(flow_.positions.top(id), 0);
  const std::span<const InstrId> operands = module_.operands_of(id);
  if (operands.empty()) return false;
  const bool is_tuple = module_.shapes.is_tuple(module_.instructions[operands[0]].shape);
  const bool is_in_place = operands.size() == 4;
  if (is_tuple) return CopyParts(source, Operand(id, 0));
  if (operands.size() == 1 || is_in_place) return Copy(source, Operand(id, 0));
  bool changed = false;
  for (size_t k = 0; k < operands.size(); ++k) changed |= Copy(Part(source, k), Operand(id, k));
  return changed;
}

// The computation that a chain of async operations runs; only its start need name it.
CompId FlowBuilder::AsyncComputation(InstrId id) const {
  while (module_.called_by(id).empty()) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    if (operands.empty()) return {};
    const Opcode opcode = module_.instructions[operands[0]].opcode;
    if (opcode != Opcode::kAsyncStart && opcode != Opcode::kAsyncUpdate) return {};
    id = operands[0];
  }
  return module_.called_by(id)[0];
}

// The chain's k-th operand, whichever link gives it.
InstrId FlowBuilder::AsyncOperand(InstrId start, size_t k) const {
  for (InstrId link = start; !link.is_none();) {
    std::span<const InstrId> operands = module_.operands_of(link);
    if (link != start) operands = operands.subspan(1);
    if (k < operands.size()) return operands[k];
    k -= operands.size();
    InstrId next;
    for (const InstrId user : orders_.users_of(link)) {
      const Opcode opcode = module_.instructions[user].opcode;
      if ((opcode == Opcode::kAsyncUpdate || opcode == Opcode::kAsyncDone) &&
          module_.operands_of(user)[0] == link) {
        next = user;
        break;
      }
    }
    link = next;
  }
  return {};
}

bool FlowBuilder::TransferAsync(InstrId id) {
  const PositionId top = flow_.positions.top(id);
  const CompId computation = AsyncComputation(id);
  const PositionId result = computation.is_none() ? PositionId() : Root(computation);
  switch (module_.instructions[id].opcode) {
    case Opcode::kAsyncStart: {
      // A wrapped dynamic-update-slice shows what it writes into until it is done.
      const bool is_update = !computation.is_none() &&
                             module_.instructions[module_.computations[computation].root].opcode ==
                                 Opcode::kDynamicUpdateSlice &&
                             !module_.operands_of(id).empty();
      bool changed =
          is_update ? Copy(Part(top, 1), Operand(id, 0)) : CopyLeaves(Part(top, 1), result);
      for (size_t k = 0; k < module_.operands_of(id).size(); ++k)
        changed |= CopyLeaves(Part(Part(top, 0), k), Operand(id, k));
      return changed;
    }
    case Opcode::kAsyncUpdate: {
      bool changed = CopyLeaves(Part(top, 1), result);
      if (AsyncStartOf(module_, id).is_none())
        return CopyLeaves(Part(top, 0), Part(Operand(id, 0), 0)) || changed;
      const std::vector<InstrId> bound = BoundOperands(module_, id);
      for (size_t k = 0; k < bound.size(); ++k)
        changed |= CopyLeaves(Part(Part(top, 0), k), flow_.positions.top(bound[k]));
      return changed;
    }
    default:
      return CopyLeaves(top, result);
  }
}

}  // namespace stowplan
