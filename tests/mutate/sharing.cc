// SPDX-License-Identifier: Apache-2.0
// Results that lie on operands.
#include <algorithm>
#include <set>

#include "mutate/run.h"

namespace stowplan::mutate {

namespace {

constexpr int64_t kLargestElement = 16;  // bytes

}  // namespace

void Interpreter::Leaves(const Node& node, std::vector<const Node*>& out) {
  out.push_back(&node);
  for (const Node& part : node.parts) Leaves(part, out);
}

void Interpreter::CheckSharing(InstrId id, const std::vector<const Node*>& inputs,
                               const Node& result) {
  std::vector<const Node*> written;
  Leaves(result, written);
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::vector<const Node*> read;
    Leaves(*inputs[k], read);
    for (size_t r = 0; r < read.size(); ++r) {
      for (size_t w = 0; w < written.size(); ++w) {
        // What a start hands on, it does not write.
        if (OpcodeOf(id) == Opcode::kCopyStart && w == 2) continue;
        if ((OpcodeOf(id) == Opcode::kAllGatherStart ||
             OpcodeOf(id) == Opcode::kCollectivePermuteStart) &&
            inputs.size() == 1 && w == 1)
          continue;
        if ((OpcodeOf(id) == Opcode::kSend || OpcodeOf(id) == Opcode::kRecvDone) && w == 1)
          continue;
        // A done writes its table when the operation no longer reads.
        if (module_.shapes.is_tuple(written[w]->shape) &&
            hlo::Name(OpcodeOf(id)).ends_with("-done"))
          continue;
        Compare(id, k, r, w, *read[r], *written[w]);
      }
    }
  }
}

void Interpreter::CheckConcatenation(InstrId id, const std::vector<const Node*>& inputs,
                                     const Node& result) {
  const hlo::Attribute* target = module_.FindAttribute(id, AttributeKey::kCustomCallTarget);
  if (target == nullptr || module_.view(target->text()) != "ConcatBitcast" || accepted_.empty())
    return;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const int64_t distance = result.place.offset - inputs[k]->place.offset;
    if (inputs[k]->place.allocation != result.place.allocation ||
        !accepted_.contains({id.index, k, 0, 0, distance}))
      Wrong(NameOf(id) + " is not made of its operands");
  }
}

void Interpreter::Compare(InstrId id, size_t k, size_t r, size_t w, const Node& read,
                          const Node& written) {
  const int64_t read_size = SizeOf(read.shape);
  const int64_t written_size = SizeOf(written.shape);
  if (read.place.allocation < 0 || read.place.allocation != written.place.allocation ||
      read_size == 0 || written_size == 0 ||
      read.place.offset >= written.place.offset + written_size ||
      written.place.offset >= read.place.offset + read_size)
    return;
  const int64_t distance = written.place.offset - read.place.offset;
  const Sharing sharing = {id.index, k, r, w, distance};
  judgement_.sharing.insert(sharing);
  if (accepted_.contains(sharing)) return;
  if (distance != 0) {
    Wrong(NameOf(id) + " writes into the middle of an operand");
    return;
  }
  if (read.shape == written.shape && IsSimple(id)) return;
  if (OpcodeOf(id) == Opcode::kCopy && IsPlainCopy(read.shape, written.shape)) return;
  if (OpcodeOf(id) == Opcode::kFusion && IsSimpleFusion(id, k, written.shape)) return;
  if ((IsMixing(id, k) || MovesElements(id)) && read_size > kLargestElement &&
      written_size > kLargestElement) {
    Wrong(NameOf(id) + " mixes elements, over an operand");
    return;
  }
  Unsure(NameOf(id) + " writes over an operand");
}

// All that is made of the operand, up to the result, are simple operations on arrays of one shape.
bool Interpreter::IsSimpleFusion(InstrId id, size_t k, ShapeId shape) const {
  const hlo::Computation& body = module_.computations[module_.called_by(id)[0]];
  if (module_.instructions[body.root].shape != shape) return false;
  std::set<InstrId> made = {module_.parameters_of(module_.called_by(id)[0])[k]};
  if (module_.instructions[*made.begin()].shape != shape) return false;
  for (uint32_t i = 0; i < body.count; ++i) {
    const InstrId inside(size_t{body.first.index} + i);
    const bool is_made = std::ranges::any_of(
        module_.operands_of(inside), [&](InstrId operand) { return made.contains(operand); });
    if (!is_made) continue;
    if (!IsSimple(OpcodeOf(inside)) || module_.instructions[inside].shape != shape) return false;
    made.insert(inside);
  }
  return true;
}

// Whether it reads each element for that element alone: element by element itself, or a fusion of
// such instructions on arrays of one size.
bool Interpreter::IsSimple(InstrId id) const {
  if (OpcodeOf(id) != Opcode::kFusion) return IsSimple(OpcodeOf(id));
  const hlo::Computation& body = module_.computations[module_.called_by(id)[0]];
  const auto dims = [&](InstrId of) { return module_.shapes.dims(module_.instructions[of].shape); };
  for (uint32_t k = 0; k < body.count; ++k) {
    const InstrId inner(size_t{body.first.index} + k);
    const Opcode opcode = OpcodeOf(inner);
    if (opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kIota)
      continue;
    const std::span<const InstrId> operands = module_.operands_of(inner);
    if (opcode == Opcode::kBroadcast && OpcodeOf(operands[0]) == Opcode::kConstant) continue;
    if (!IsSimple(opcode)) return false;
    for (const InstrId operand : operands) {
      if (!std::ranges::equal(dims(operand), dims(body.root))) return false;
    }
  }
  return true;
}

// Elements of the operand go elsewhere, or into many elements of the result, and no library does
// this in place.
bool Interpreter::MovesElements(InstrId id) const {
  switch (OpcodeOf(id)) {
    case Opcode::kConvolution:
    case Opcode::kReduceWindow:
      return true;
    case Opcode::kFusion: {
      const hlo::Attribute* config = module_.FindAttribute(id, AttributeKey::kBackendConfig);
      const Opcode root = OpcodeOf(module_.computations[module_.called_by(id)[0]].root);
      return (root == Opcode::kDot || root == Opcode::kConvolution) && config != nullptr &&
             module_.view(config->text()).find("__ynn_fusion") != std::string_view::npos;
    }
    default:
      return false;
  }
}

// Whether a transposition moves elements: both layouts have the same order, the dimensions not.
bool Interpreter::Moves(InstrId transpose) const {
  const ShapeId from = module_.instructions[module_.operands_of(transpose)[0]].shape;
  const ShapeId to = module_.instructions[transpose].shape;
  const hlo::Attribute* order = module_.FindAttribute(transpose, AttributeKey::kDimensions);
  if (order == nullptr || module_.shapes[from].layout != module_.shapes[to].layout) return false;
  std::vector<int64_t> moved;
  for (const int64_t d : Module::Rows(module_.ints, order->rows())) {
    if (module_.shapes.dims(from)[static_cast<size_t>(d)] != 1) moved.push_back(d);
  }
  return !std::ranges::is_sorted(moved);
}

// Whether elements of the result are made of other elements of operand k than their own.
bool Interpreter::IsMixing(InstrId id, size_t k) const {
  const auto is_mixing = [&](InstrId of) {
    const Opcode opcode = OpcodeOf(of);
    if (opcode == Opcode::kTranspose) return Moves(of);
    // A library's call that says where it works in place, and does not say so here.
    if (opcode == Opcode::kCustomCall) {
      const hlo::Attribute* target = module_.FindAttribute(of, AttributeKey::kCustomCallTarget);
      return target != nullptr && module_.view(target->text()).starts_with("__cudnn") &&
             module_.FindAttribute(of, AttributeKey::kOutputToOperandAliasing) == nullptr;
    }
    return opcode == Opcode::kAllToAll || opcode == Opcode::kAllGather || opcode == Opcode::kDot ||
           opcode == Opcode::kReverse;
  };
  if (OpcodeOf(id) != Opcode::kFusion) return is_mixing(id);
  // Only what the result is made of is computed.
  const hlo::CompId called = module_.called_by(id)[0];
  std::vector<InstrId> stack = {module_.computations[called].root};
  std::set<InstrId> computed(stack.begin(), stack.end());
  while (!stack.empty()) {
    const InstrId inner = stack.back();
    stack.pop_back();
    const std::span<const InstrId> operands = module_.operands_of(inner);
    if (is_mixing(inner) && std::ranges::count(operands, module_.parameters_of(called)[k]) > 0)
      return true;
    for (const InstrId operand : operands) {
      if (computed.insert(operand).second) stack.push_back(operand);
    }
  }
  return false;
}

bool Interpreter::IsSimple(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kNegate:
    case Opcode::kExp:
    case Opcode::kTanh:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAbs:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kNot:
    case Opcode::kXor:
    case Opcode::kSelect:
    case Opcode::kCompare:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kLog:
    case Opcode::kPower:
      return true;
    default:
      return false;
  }
}

}  // namespace stowplan::mutate
