// SPDX-License-Identifier: Apache-2.0
#include "check/overwriting.h"

#include <algorithm>
#include <optional>
#include <span>

#include "check/bodies.h"
#include "check/index_map.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::check {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

namespace {

// One loop over the elements of the result, with nothing before it and nothing after it.
bool IsPlainLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kFusion:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return IsByElement(opcode);
  }
}

}  // namespace

bool Overwriting::IsDeclared(InstrId user, size_t k, uint32_t input, uint32_t output) const {
  const hlo::Attribute* attribute =
      module_.FindAttribute(user, AttributeKey::kOutputToOperandAliasing);
  if (attribute == nullptr) return false;
  std::span<const int64_t> numbers = Module::Rows(module_.ints, attribute->rows());
  const auto take = [&](size_t count) {
    const std::span<const int64_t> taken = numbers.first(std::min(count, numbers.size()));
    numbers = numbers.subspan(taken.size());
    return taken;
  };
  while (!numbers.empty()) {
    const std::span<const int64_t> to = take(static_cast<size_t>(take(1)[0]));
    if (numbers.size() < 2) return false;
    const auto operand = static_cast<size_t>(take(1)[0]);
    const std::span<const int64_t> from = take(static_cast<size_t>(take(1)[0]));
    if (operand == k && trees_.Find(module_, module_.instructions[user].shape, to) == output &&
        trees_.Find(module_, module_.instructions[module_.operands_of(user)[k]].shape, from) ==
            input)
      return true;
  }
  return false;
}

Overwriting::Purpose Overwriting::PurposeOf(InstrId user, size_t k, uint32_t input,
                                            uint32_t output) const {
  const std::span<const InstrId> operands = module_.operands_of(user);
  const ShapeId from = trees_.shape(trees_.top(operands[k]) + input);
  const ShapeId to = trees_.shape(trees_.top(user) + output);
  const ShapeId result = module_.instructions[user].shape;
  // Whether the k-th of `count` outputs, or the only one.
  const auto is_output = [&](size_t number) {
    if (!module_.shapes.is_tuple(result)) return output == 0 && number == 0;
    return number < trees_.children(result).size() && output == trees_.children(result)[number];
  };
  const auto in_place_if = [&](bool is_the_one) {
    return is_the_one && LieAlike(module_.shapes, from, to) ? Purpose::kInPlace
                                                            : Purpose::kElsewhere;
  };
  switch (module_.instructions[user].opcode) {
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kSetDimensionSize:
      return in_place_if(k == 0);
    case Opcode::kScatter:
      return in_place_if(k < operands.size() / 2 && is_output(k));
    case Opcode::kSort:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectiveBroadcast:
      return in_place_if(is_output(k));
    case Opcode::kTriangularSolve:
    case Opcode::kRaggedAllToAll:
      return in_place_if(k == 1);
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return in_place_if(operands.size() == 4 && k == 1);
    case Opcode::kCustomCall: {
      if (IsDeclared(user, k, input, output)) return Purpose::kInPlace;
      const hlo::Attribute* target = module_.FindAttribute(user, AttributeKey::kCustomCallTarget);
      // The addend of cuBLASLt's product, which it is added to in place.
      const bool is_addend = target != nullptr &&
                             module_.view(target->text()) == "__cublas$lt$matmul" && k == 2 &&
                             (is_output(0) || output == 0);
      return is_addend ? Purpose::kInPlace : Purpose::kElsewhere;
    }
    case Opcode::kFusion:
      return IsDeclared(user, k, input, output) ? Purpose::kInPlace : Purpose::kNone;
    default:
      return Purpose::kNone;
  }
}

// Each element of the result over the one that it is made of. Hazards finds this too, but not as
// fast, and many plans have little else.
bool Overwriting::IsElementOverElement(InstrId user, ShapeId from, ShapeId to) const {
  return from == to && IsByElement(module_.instructions[user].opcode) &&
         module_.instructions[user].shape == to && CountElements(module_.shapes, to) > 0;
}

Hazard Overwriting::Find(InstrId user, size_t k, uint32_t input, uint32_t output,
                         int64_t distance) {
  const uint32_t from = trees_.top(module_.operands_of(user)[k]) + input;
  const uint32_t to = trees_.top(user) + output;
  // Tables of pointers are nobody's elements: only a call that was told so writes one over another.
  if (!hlo::IsArray(module_.shapes[trees_.shape(from)].type) ||
      !hlo::IsArray(module_.shapes[trees_.shape(to)].type))
    return distance == 0 && IsDeclared(user, k, input, output) ? Hazard::kNone : Hazard::kClash;
  switch (PurposeOf(user, k, input, output)) {
    case Purpose::kInPlace:
      return distance == 0 ? Hazard::kNone : Hazard::kClash;
    case Purpose::kElsewhere:
      return Hazard::kClash;
    case Purpose::kNone:
      break;
  }
  if (distance == 0 && IsElementOverElement(user, trees_.shape(from), trees_.shape(to)))
    return Hazard::kNone;
  if (hazards_ == nullptr || last_ != user) {
    hazards_ = std::make_unique<Hazards>(
        module_, user, [this](InstrId call, size_t operand, const std::vector<int64_t>& part) {
          const std::optional<uint32_t> number =
              trees_.Find(module_, module_.instructions[call].shape, part);
          return number && PurposeOf(call, operand, 0, *number) == Purpose::kInPlace;
        });
    last_ = user;
  }
  const Hazard hazard =
      hazards_->Find(k, trees_.IndexOf(module_, from), trees_.IndexOf(module_, to), distance);
  if (hazard != Hazard::kNone) return hazard;
  // Of what is no loop, it is known what is read, but not when. And padding may be written with the
  // elements beside it: over padding, or over elements.
  const bool is_known = IsPlainLoop(module_.instructions[user].opcode) &&
                        IsPaddingApart(module_.shapes, trees_.shape(from), trees_.shape(to));
  // No compiler that we know lets a result begin in the middle of an operand, so that nobody knows
  // what else holds then.
  return is_known && distance == 0 ? Hazard::kNone : Hazard::kUnknown;
}

}  // namespace stowplan::check
