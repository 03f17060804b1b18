// SPDX-License-Identifier: Apache-2.0
// Results that lie on operands.
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
  Unsure(NameOf(id) + " writes over an operand");
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
