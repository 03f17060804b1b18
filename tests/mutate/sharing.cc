// SPDX-License-Identifier: Apache-2.0
// Results that lie on operands.
#include <algorithm>
#include <set>

#include "mutate/run.h"

namespace stowplan::mutate {

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
  if (read.shape == written.shape && IsSimple(OpcodeOf(id))) return;
  if (OpcodeOf(id) == Opcode::kCopy && IsPlainCopy(read.shape, written.shape)) return;
  if (OpcodeOf(id) == Opcode::kFusion && IsSimpleFusion(id, k, written.shape)) return;
  if (written_size > 8 && MovesElements(id)) {
    Wrong(NameOf(id) + " writes over an operand that it reads out of order");
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

// Elements of the operand go elsewhere, or into many elements of the result, and no library does
// this in place.
bool Interpreter::MovesElements(InstrId id) const {
  switch (OpcodeOf(id)) {
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kReduceWindow:
    case Opcode::kReverse:
      return true;
    case Opcode::kCustomCall: {
      const hlo::Attribute* target = module_.FindAttribute(id, AttributeKey::kCustomCallTarget);
      return target != nullptr && module_.view(target->text()).starts_with("__cudnn$");
    }
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
      return true;
    default:
      return false;
  }
}

}  // namespace stowplan::mutate
