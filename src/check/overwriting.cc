// SPDX-License-Identifier: Apache-2.0
#include "check/overwriting.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

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

std::span<const int64_t> Order(const hlo::ShapeTable& shapes, ShapeId id) {
  const hlo::LayoutId layout = shapes[id].layout;
  if (layout.is_none()) return {};
  return shapes.layout(layout).minor_to_major;
}

int64_t Count(const hlo::ShapeTable& shapes, ShapeId id) {
  int64_t count = 1;
  for (const int64_t dim : shapes.dims(id)) {
    if (__builtin_mul_overflow(count, dim, &count)) return -1;
  }
  return count;
}

// Dimensions from the innermost outwards, those of size 1 apart: equal ones count elements alike.
std::vector<int64_t> Strides(const hlo::ShapeTable& shapes, ShapeId id) {
  std::vector<int64_t> from_inside;
  const std::span<const int64_t> dims = shapes.dims(id);
  for (const int64_t d : Order(shapes, id)) {
    if (dims[static_cast<size_t>(d)] != 1) from_inside.push_back(d);
  }
  return from_inside;
}

// Two arrays of the same dimensions in which the same element is as far from the first.
bool LieAlike(const hlo::ShapeTable& shapes, ShapeId a, ShapeId b) {
  if (a == b) return true;
  return std::ranges::equal(shapes.dims(a), shapes.dims(b)) &&
         Strides(shapes, a) == Strides(shapes, b);
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
bool KeepsOrder(const Module& module, InstrId transpose) {
  const hlo::Attribute* attribute = module.FindAttribute(transpose, AttributeKey::kDimensions);
  if (attribute == nullptr) return false;
  const std::span<const int64_t> dimensions = Module::Rows(module.ints, attribute->rows());
  const ShapeId from = module.instructions[module.operands_of(transpose)[0]].shape;
  std::vector<int64_t> moved;
  for (const int64_t d : Strides(module.shapes, module.instructions[transpose].shape))
    moved.push_back(dimensions[static_cast<size_t>(d)]);
  return moved == Strides(module.shapes, from);
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
        return std::ranges::is_sorted(Strides(module.shapes, id), std::greater());
      };
      return is_row_major(from) && is_row_major(to);
    }
    case Opcode::kTranspose:
      return KeepsOrder(module, user);
    case Opcode::kDynamicUpdateSlice:
      return (k == 0 || (k == 1 && Count(module.shapes, from) == Count(module.shapes, to))) &&
             LieAlike(module.shapes, from, to);
    case Opcode::kScatter:
      return k < module.operands_of(user).size() / 2;
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return true;
    default:
      return IsByElement(opcode) && LieAlike(module.shapes, from, to);
  }
}

bool HasOneElement(const Module& module, ShapeId id) {
  return hlo::IsArray(module.shapes[id].type) && Count(module.shapes, id) == 1;
}

// Follows one parameter of a fusion to all that is made of it.
class FusionWalk {
 public:
  // `target`: what the body returns as the part that is written over the parameter.
  FusionWalk(const Module& module, InstrId target) : module_(module) {
    target_ = target;
    while (opcode(target_) == Opcode::kBitcast) target_ = module.operands_of(target_)[0];
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
      if (const std::optional<Run> read = RunOfSlice(user), written = RunOfUpdate();
          read && written) {
        frame = Frame::kSlice;
        // What is not written over may be read at any time.
        ends = read->begin >= written->end || written->begin >= read->end;
        if (ends || *read == *written) return true;
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

  // Elements [begin, end) of an array as they lie in memory.
  struct Run {
    int64_t begin = 0;
    int64_t end = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  // The elements from `starts` on, as many as `sizes` says; none when they are not one run.
  [[nodiscard]] std::optional<Run> RunOf(ShapeId array, std::span<const int64_t> starts,
                                         std::span<const int64_t> sizes) const {
    const std::span<const int64_t> dims = module_.shapes.dims(array);
    const std::span<const int64_t> order = Order(module_.shapes, array);
    if (Count(module_.shapes, array) < 0 || order.size() != dims.size() ||
        starts.size() != dims.size() || sizes.size() != dims.size())
      return std::nullopt;
    Run run;
    int64_t count = 1;
    int64_t stride = 1;
    for (const int64_t d : order) {
      const auto k = static_cast<size_t>(d);
      // Behind a dimension of which only a part is meant, there may be no more than one of each.
      if (count != stride && sizes[k] != 1) return std::nullopt;
      if (starts[k] < 0 || sizes[k] < 0 || starts[k] > dims[k] - sizes[k]) return std::nullopt;
      run.begin += starts[k] * stride;
      count *= sizes[k];
      stride *= dims[k];
    }
    run.end = run.begin + count;
    return run;
  }
  [[nodiscard]] std::optional<Run> RunOfSlice(InstrId slice) const {
    const hlo::Attribute* attribute = module_.FindAttribute(slice, AttributeKey::kSlice);
    if (attribute == nullptr) return std::nullopt;
    std::vector<int64_t> starts;
    std::vector<int64_t> sizes;
    const std::span<const int64_t> rows = Module::Rows(module_.ints, attribute->rows());
    for (size_t r = 0; r + 2 < rows.size(); r += 3) {
      if (rows[r + 2] != 1 && rows[r + 1] - rows[r] > 1) return std::nullopt;
      starts.push_back(rows[r]);
      sizes.push_back(rows[r + 1] - rows[r]);
    }
    return RunOf(module_.instructions[module_.operands_of(slice)[0]].shape, starts, sizes);
  }
  // What the target writes, where constants say it.
  [[nodiscard]] std::optional<Run> RunOfUpdate() const {
    if (opcode(target_) != Opcode::kDynamicUpdateSlice) return std::nullopt;
    const std::span<const InstrId> operands = module_.operands_of(target_);
    const ShapeId array = module_.instructions[operands[0]].shape;
    const std::span<const int64_t> dims = module_.shapes.dims(array);
    const std::span<const int64_t> sizes =
        module_.shapes.dims(module_.instructions[operands[1]].shape);
    if (operands.size() - 2 != dims.size() || sizes.size() != dims.size()) return std::nullopt;
    std::vector<int64_t> starts;
    for (size_t d = 0; d < dims.size(); ++d) {
      const std::string_view literal = LiteralOf(operands[d + 2]);
      int64_t start = 0;
      const auto [end, error] =
          std::from_chars(literal.data(), literal.data() + literal.size(), start);
      if (literal.empty() || error != std::errc() || end != literal.data() + literal.size())
        return std::nullopt;
      // A slice that would end outside is moved inside.
      starts.push_back(std::max<int64_t>(0, std::min(start, dims[d] - sizes[d])));
    }
    return RunOf(array, starts, sizes);
  }

  [[nodiscard]] bool ReadsTheUpdatedSlice(InstrId slice) const {
    if (opcode(target_) != Opcode::kDynamicUpdateSlice) return false;
    const std::span<const InstrId> updated = module_.operands_of(target_);
    const std::span<const InstrId> read = module_.operands_of(slice);
    const ShapeId update = module_.instructions[updated[1]].shape;
    const ShapeId shape = module_.instructions[slice].shape;
    // One element is read before it is written, wherever it was.
    if (HasOneElement(module_, update) && HasOneElement(module_, shape)) return true;
    return std::ranges::equal(module_.shapes.dims(update), module_.shapes.dims(shape)) &&
           LieAlike(module_.shapes, module_.instructions[updated[0]].shape,
                    module_.instructions[read[0]].shape) &&
           std::ranges::equal(updated.subspan(2), read.subspan(1),
                              [&](InstrId a, InstrId b) { return AreEqual(a, b); });
  }
  [[nodiscard]] bool AreEqual(InstrId a, InstrId b) const {
    if (a == b) return true;
    return !LiteralOf(a).empty() && LiteralOf(a) == LiteralOf(b);
  }
  // Empty when it is no constant.
  [[nodiscard]] std::string_view LiteralOf(InstrId id) const {
    if (opcode(id) != Opcode::kConstant) return {};
    const hlo::Attribute* attribute = module_.FindAttribute(id, AttributeKey::kLiteral);
    return attribute == nullptr ? std::string_view() : module_.view(attribute->text());
  }

  const Module& module_;
  InstrId target_;
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
      return k == 0;
    case Opcode::kScatter:
      return k < operands.size() / 2 && is_output(k);
    case Opcode::kSort:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectiveBroadcast:
      return is_output(k);
    case Opcode::kTriangularSolve:
    case Opcode::kRaggedAllToAll:
      return k == 1;
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return operands.size() == 4 && k == 1;
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

bool Overwriting::IsFusionSafe(InstrId fusion, size_t k, uint32_t input, uint32_t output) {
  const ShapeId from = trees_.shape(trees_.top(module_.operands_of(fusion)[k]) + input);
  const ShapeId to = trees_.shape(trees_.top(fusion) + output);
  if (!HaveEqualWidth(module_.shapes, from, to) ||
      Count(module_.shapes, from) != Count(module_.shapes, to))
    return false;
  if (module_.called_by(fusion).empty()) return false;
  const CompId callee = module_.called_by(fusion)[0];
  if (k >= module_.parameters_of(callee).size()) return false;
  // The instruction that makes the output.
  InstrId target = module_.computations[callee].root;
  for (const int64_t number : trees_.IndexOf(module_, trees_.top(fusion) + output)) {
    while (module_.instructions[target].opcode == Opcode::kBitcast)
      target = module_.operands_of(target)[0];
    if (module_.instructions[target].opcode != Opcode::kTuple) break;
    target = module_.operands_of(target)[static_cast<size_t>(number)];
  }
  // All of one element is read before any of one element is written.
  bool is_one = HasOneElement(module_, from);
  for (uint32_t part = 0; is_one && part < trees_.count(module_.instructions[fusion].shape);
       ++part) {
    const ShapeId shape = trees_.shape(trees_.top(fusion) + part);
    is_one = module_.shapes.is_tuple(shape) || HasOneElement(module_, shape);
  }
  if (is_one) return true;
  const FusionWalk walk(module_, target);
  struct Step {
    InstrId id;
    FusionWalk::Frame frame;
    auto operator<=>(const Step&) const = default;
  };
  std::set<Step> seen;
  std::vector<Step> stack;
  const auto push = [&](InstrId id, FusionWalk::Frame frame) {
    if (seen.insert({id, frame}).second) stack.push_back({id, frame});
  };
  push(module_.parameters_of(callee)[k], FusionWalk::Frame::kWhole);
  // Fusions inside of fusions: where their bodies return to.
  std::map<CompId, std::set<InstrId>> callers;
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    const CompId parent = module_.instructions[step.id].parent;
    if (step.id == module_.computations[parent].root) {
      for (const InstrId caller : callers[parent]) push(caller, step.frame);
    }
    const Body& body = BodyOf(parent);
    for (const Read& read : body.reads[step.id.index - module_.computations[parent].first.index]) {
      if (module_.instructions[read.user].opcode == Opcode::kFusion) {
        const CompId inner = module_.called_by(read.user)[0];
        callers[inner].insert(read.user);
        push(module_.parameters_of(inner)[read.operand], step.frame);
        continue;
      }
      FusionWalk::Frame frame = step.frame;
      bool ends = false;
      if (!walk.Accepts(step.id, read.user, read.operand, frame, ends)) return false;
      if (!ends) push(read.user, frame);
    }
  }
  return true;
}

}  // namespace stowplan::check
