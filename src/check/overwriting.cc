// SPDX-License-Identifier: Apache-2.0
#include "check/overwriting.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "check/elements.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::check {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

// Element i of the result is made of elements i of the operands.
bool IsByElement(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan2:
    case Opcode::kAtanh:
    case Opcode::kBitcastConvert:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kClz:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kCos:
    case Opcode::kCosh:
    case Opcode::kDivide:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kMap:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMulhi:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kPopulationCount:
    case Opcode::kPower:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRemainder:
    case Opcode::kRng:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSelect:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kStochasticConvert:
    case Opcode::kSubtract:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool HaveEqualWidth(const hlo::ShapeTable& shapes, ShapeId a, ShapeId b) {
  const auto bits = [&](ShapeId id) {
    const hlo::LayoutId layout = shapes[id].layout;
    const int64_t said = layout.is_none() ? 0 : shapes.layout(layout).element_bits;
    return said != 0 ? said : std::max<int64_t>(8, hlo::BitWidth(shapes[id].type));
  };
  return bits(a) == bits(b);
}

// A transposition that moves nothing in memory.
bool TransposeKeepsOrder(const Module& module, InstrId transpose) {
  const hlo::Attribute* attribute = module.FindAttribute(transpose, AttributeKey::kDimensions);
  if (attribute == nullptr) return false;
  const std::span<const int64_t> dimensions = Module::Rows(module.ints, attribute->rows());
  const ShapeId from = module.instructions[module.operands_of(transpose)[0]].shape;
  if (dimensions.size() != module.shapes.dims(module.instructions[transpose].shape).size())
    return false;
  std::vector<int64_t> moved;
  for (const int64_t d : StridedDimensions(module.shapes, module.instructions[transpose].shape))
    moved.push_back(dimensions[static_cast<size_t>(d)]);
  return moved == StridedDimensions(module.shapes, from);
}

// The place of element i stays i; of an instruction that reads `from` as operand k.
bool KeepsElements(const Module& module, InstrId user, size_t k, ShapeId from) {
  const Opcode opcode = module.instructions[user].opcode;
  const ShapeId to = module.instructions[user].shape;
  switch (opcode) {
    case Opcode::kBitcast:
      return HaveEqualWidth(module.shapes, from, to);
    case Opcode::kReshape: {
      const auto is_row_major = [&](ShapeId id) {
        return std::ranges::is_sorted(StridedDimensions(module.shapes, id), std::greater());
      };
      return is_row_major(from) && is_row_major(to);
    }
    case Opcode::kTranspose:
      return TransposeKeepsOrder(module, user);
    case Opcode::kDynamicUpdateSlice:
      return (k == 0 ||
              (k == 1 && CountElements(module.shapes, from) == CountElements(module.shapes, to))) &&
             LieAlike(module.shapes, from, to);
    case Opcode::kScatter:
      return k < module.operands_of(user).size() / 2 &&
             (module.shapes.is_tuple(to) || LieAlike(module.shapes, from, to));
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return true;
    default:
      return IsByElement(opcode) && LieAlike(module.shapes, from, to);
  }
}

// Follows one parameter of a fusion to all that is made of it.
class FusionWalk {
 public:
  // `target`: what the body returns as the part that is written over the parameter.
  FusionWalk(const Module& module, InstrId target, InstrId parameter)
      : module_(module), target_(BehindBitcasts(target)) {
    updates_in_place_ = opcode(target_) == Opcode::kDynamicUpdateSlice &&
                        BehindBitcasts(module.operands_of(target_)[0]) == parameter;
    MarkNeeds();
  }

  // What a loop counts by where an instruction stands.
  enum class Frame : uint8_t {
    kWhole,  // elements of the result
    kSlice,  // elements of the slice that the target updates
  };

  // Whether reading `from`, as operand k of `user`, comes before the write over it. If so, `frame`
  // becomes the one of `user`; `ends` is set when nothing more is read behind it.
  [[nodiscard]] bool Accepts(InstrId from, InstrId user, size_t k, Frame& frame, bool& ends) const {
    ends = false;
    const ShapeId shape = module_.instructions[from].shape;
    if (frame == Frame::kSlice && user == target_ && k == 1) {
      ends = true;
      return true;
    }
    if (frame == Frame::kWhole && opcode(user) == Opcode::kDynamicSlice && k == 0 &&
        ReadsTheUpdatedSlice(user)) {
      frame = Frame::kSlice;
      return true;
    }
    if (frame == Frame::kWhole && opcode(user) == Opcode::kSlice && k == 0) {
      if (const std::optional<Box> read = BoxOfSlice(module_, user),
          written = BoxOfUpdate(module_, target_);
          read && written) {
        frame = Frame::kSlice;
        // What is not written over may be read at any time.
        ends = updates_in_place_ && AreApart(module_.shapes, *read, *written);
        if (ends || AreEqual(module_.shapes, *read, *written)) return true;
      }
    }
    if (opcode(user) == Opcode::kReduce && k < module_.operands_of(user).size() / 2) {
      // Each element is read once, when the loop comes to it.
      ends = true;
      return !needed_.contains(user);
    }
    if (frame == Frame::kWhole && opcode(user) == Opcode::kDynamicUpdateSlice && k == 1 &&
        !needed_.contains(user)) {
      // Another output, whose slice is written by the same loop, element by element.
      ends = true;
      return true;
    }
    if (opcode(user) == Opcode::kSort) {
      ends = true;
      return user == target_;
    }
    return KeepsElements(module_, user, k, shape);
  }

 private:
  [[nodiscard]] Opcode opcode(InstrId id) const { return module_.instructions[id].opcode; }

  [[nodiscard]] InstrId BehindBitcasts(InstrId id) const {
    while (opcode(id) == Opcode::kBitcast) id = module_.operands_of(id)[0];
    return id;
  }

  // What the target is made of.
  void MarkNeeds() {
    std::vector<InstrId> stack = {target_};
    while (!stack.empty()) {
      const InstrId id = stack.back();
      stack.pop_back();
      if (!needed_.insert(id).second) continue;
      for (const InstrId operand : module_.operands_of(id)) stack.push_back(operand);
    }
  }

  [[nodiscard]] bool ReadsTheUpdatedSlice(InstrId slice) const {
    if (opcode(target_) != Opcode::kDynamicUpdateSlice) return false;
    const std::span<const InstrId> updated = module_.operands_of(target_);
    const std::span<const InstrId> read = module_.operands_of(slice);
    const ShapeId update = module_.instructions[updated[1]].shape;
    const ShapeId shape = module_.instructions[slice].shape;
    // One element is read before it is written, wherever it was.
    if (updates_in_place_ && HasOneElement(module_.shapes, update) &&
        HasOneElement(module_.shapes, shape))
      return true;
    return LieAlike(module_.shapes, update, shape) &&
           LieAlike(module_.shapes, module_.instructions[updated[0]].shape,
                    module_.instructions[read[0]].shape) &&
           std::ranges::equal(updated.subspan(2), read.subspan(1),
                              [&](InstrId a, InstrId b) { return HaveEqualValues(a, b); });
  }
  [[nodiscard]] bool HaveEqualValues(InstrId a, InstrId b) const {
    if (a == b) return true;
    return !LiteralOf(module_, a).empty() && LiteralOf(module_, a) == LiteralOf(module_, b);
  }

  const Module& module_;
  InstrId target_;
  // The target updates the parameter itself: what it does not write stays as it is. Where it
  // updates something else, that is written too.
  bool updates_in_place_ = false;
  std::set<InstrId> needed_;
};

}  // namespace

const Overwriting::Body& Overwriting::BodyOf(CompId id) {
  const auto [row, is_new] = bodies_.try_emplace(id);
  if (!is_new) return row->second;
  const hlo::Computation& computation = module_.computations[id];
  row->second.reads.resize(computation.count);
  // What the body does not return is not computed.
  std::vector<uint8_t> is_needed(computation.count, 0);
  std::vector<InstrId> stack = {computation.root};
  while (!stack.empty()) {
    const InstrId user = stack.back();
    stack.pop_back();
    if (std::exchange(is_needed[user.index - computation.first.index], 1) != 0) continue;
    const std::span<const InstrId> operands = module_.operands_of(user);
    for (size_t k = 0; k < operands.size(); ++k) {
      row->second.reads[operands[k].index - computation.first.index].push_back(
          {user, static_cast<uint32_t>(k)});
      stack.push_back(operands[k]);
    }
  }
  return row->second;
}

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

bool Overwriting::IsSafe(InstrId user, size_t k, uint32_t input, uint32_t output) {
  const std::span<const InstrId> operands = module_.operands_of(user);
  const ShapeId from = trees_.shape(trees_.top(operands[k]) + input);
  const ShapeId to = trees_.shape(trees_.top(user) + output);
  const Opcode opcode = module_.instructions[user].opcode;
  const ShapeId result = module_.instructions[user].shape;
  // Whether the k-th of `count` outputs, or the only one.
  const auto is_output = [&](size_t number) {
    if (!module_.shapes.is_tuple(result)) return output == 0 && number == 0;
    return number < trees_.children(result).size() && output == trees_.children(result)[number];
  };
  switch (opcode) {
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kSetDimensionSize:
      return k == 0 && LieAlike(module_.shapes, from, to);
    case Opcode::kScatter:
      return k < operands.size() / 2 && is_output(k) && LieAlike(module_.shapes, from, to);
    case Opcode::kSort:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectiveBroadcast:
      return is_output(k) && LieAlike(module_.shapes, from, to);
    case Opcode::kTriangularSolve:
    case Opcode::kRaggedAllToAll:
      return k == 1 && LieAlike(module_.shapes, from, to);
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return operands.size() == 4 && k == 1 && LieAlike(module_.shapes, from, to);
    case Opcode::kCustomCall: {
      if (IsDeclared(user, k, input, output)) return true;
      const hlo::Attribute* target = module_.FindAttribute(user, AttributeKey::kCustomCallTarget);
      // The addend of cuBLASLt's product, which it is added to in place.
      return target != nullptr && module_.view(target->text()) == "__cublas$lt$matmul" && k == 2 &&
             (is_output(0) || output == 0);
    }
    case Opcode::kFusion:
      return IsDeclared(user, k, input, output) || IsFusionSafe(user, k, input, output);
    default:
      return IsByElement(opcode) && LieAlike(module_.shapes, from, to) &&
             HaveEqualWidth(module_.shapes, from, to);
  }
}

Overwriting::Maker Overwriting::MakerOf(CompId body, std::vector<int64_t> index) const {
  std::ranges::reverse(index);  // the outermost number comes last
  InstrId id = module_.computations[body].root;
  for (;;) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    switch (module_.instructions[id].opcode) {
      case Opcode::kBitcast:
        id = operands[0];
        break;
      case Opcode::kTuple:
        if (index.empty() || static_cast<size_t>(index.back()) >= operands.size()) return {};
        id = operands[static_cast<size_t>(index.back())];
        index.pop_back();
        break;
      case Opcode::kGetTupleElement:
        index.push_back(module_.NumberOr(id, AttributeKey::kIndex, 0));
        id = operands[0];
        break;
      case Opcode::kCustomCall: {
        std::ranges::reverse(index);
        const std::optional<uint32_t> part =
            trees_.Find(module_, module_.instructions[id].shape, index);
        return part ? Maker{id, *part} : Maker();
      }
      default:
        return {};
    }
  }
}

InstrId Overwriting::TargetOf(InstrId fusion, uint32_t output) const {
  InstrId target = module_.computations[module_.called_by(fusion)[0]].root;
  for (const int64_t number : trees_.IndexOf(module_, trees_.top(fusion) + output)) {
    while (module_.instructions[target].opcode == Opcode::kBitcast)
      target = module_.operands_of(target)[0];
    if (module_.instructions[target].opcode != Opcode::kTuple) break;
    target = module_.operands_of(target)[static_cast<size_t>(number)];
  }
  return target;
}

bool Overwriting::ReturnsSingleElements(InstrId fusion) const {
  for (uint32_t part = 0; part < trees_.count(module_.instructions[fusion].shape); ++part) {
    const ShapeId shape = trees_.shape(trees_.top(fusion) + part);
    if (!module_.shapes.is_tuple(shape) && !HasOneElement(module_.shapes, shape)) return false;
  }
  return true;
}

bool Overwriting::IsFusionSafe(InstrId fusion, size_t k, uint32_t input, uint32_t output) {
  const ShapeId from = trees_.shape(trees_.top(module_.operands_of(fusion)[k]) + input);
  const ShapeId to = trees_.shape(trees_.top(fusion) + output);
  if (!HaveEqualWidth(module_.shapes, from, to) ||
      CountElements(module_.shapes, from) != CountElements(module_.shapes, to))
    return false;
  if (module_.called_by(fusion).empty()) return false;
  const CompId callee = module_.called_by(fusion)[0];
  if (k >= module_.parameters_of(callee).size()) return false;
  // All of one element is read before any of one element is written.
  if (HasOneElement(module_.shapes, from) && ReturnsSingleElements(fusion)) return true;
  const Maker maker = MakerOf(callee, trees_.IndexOf(module_, trees_.top(fusion) + output));
  struct Step {
    InstrId id;
    FusionWalk::Frame frame;
    // Element i stands for what lies where element i of such an array does. Inside of a fusion,
    // nothing lies anywhere: layouts may change and change back.
    ShapeId like;
    auto operator<=>(const Step&) const = default;
  };
  std::set<Step> seen;
  std::vector<Step> stack;
  const auto push = [&](InstrId id, FusionWalk::Frame frame, ShapeId like) {
    if (seen.insert({id, frame, like}).second) stack.push_back({id, frame, like});
  };
  const InstrId parameter = module_.parameters_of(callee)[k];
  const FusionWalk walk(module_, TargetOf(fusion, output), parameter);
  push(parameter, FusionWalk::Frame::kWhole, module_.instructions[parameter].shape);
  // Fusions inside of fusions: where their bodies return to.
  std::map<CompId, std::set<InstrId>> callers;
  std::map<CompId, std::vector<std::pair<FusionWalk::Frame, ShapeId>>> returned;
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    const CompId parent = module_.instructions[step.id].parent;
    const ShapeId shape = module_.instructions[step.id].shape;
    const bool is_back = step.like == shape || LieAlike(module_.shapes, step.like, shape);
    if (step.id == module_.computations[parent].root) {
      if (parent == callee && !is_back) return false;
      returned[parent].emplace_back(step.frame, step.like);
      for (const InstrId caller : callers[parent]) push(caller, step.frame, step.like);
    }
    const Body& body = BodyOf(parent);
    for (const Read& read : body.reads[step.id.index - module_.computations[parent].first.index]) {
      if (module_.instructions[read.user].opcode == Opcode::kFusion) {
        const CompId inner = module_.called_by(read.user)[0];
        if (callers[inner].insert(read.user).second) {
          // What the body has returned to others, it returns here too.
          for (const auto& [frame, like] : returned[inner]) push(read.user, frame, like);
        }
        push(module_.parameters_of(inner)[read.operand], step.frame, step.like);
        continue;
      }
      const ShapeId result = module_.instructions[read.user].shape;
      if (IsByElement(module_.instructions[read.user].opcode) &&
          std::ranges::equal(module_.shapes.dims(shape), module_.shapes.dims(result))) {
        push(read.user, step.frame, step.like);
        continue;
      }
      if (!is_back) return false;
      // A library's call on the whole operand, whose result is the output.
      if (read.user == maker.call && step.frame == FusionWalk::Frame::kWhole &&
          IsSafe(read.user, read.operand, 0, maker.part))
        continue;
      FusionWalk::Frame frame = step.frame;
      bool ends = false;
      if (!walk.Accepts(step.id, read.user, read.operand, frame, ends)) return false;
      if (!ends) push(read.user, frame, result);
    }
  }
  return true;
}

}  // namespace stowplan::check
