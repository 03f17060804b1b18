// SPDX-License-Identifier: Apache-2.0
#include "check/same_results.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "check/expressions.h"
#include "hlo/print_attribute.h"

namespace stowplan::check {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::ElementType;
using hlo::InstrId;
using hlo::Opcode;
using hlo::ShapeId;

// Computations that call each other deeper than this are given up.
constexpr int kMostCalls = 200;

// What may give another result each time, or is seen from outside.
bool HasEffect(const hlo::Module& m, InstrId id) {
  switch (m.instructions[id].opcode) {
    case Opcode::kUnknown:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kSend:
    case Opcode::kSendDone:
      return true;
    case Opcode::kCustomCall:
      return m.NumberOr(id, AttributeKey::kCustomCallHasSideEffect, 0) != 0;
    default:
      return false;
  }
}

// Whether the attribute only refers to other rows, or says nothing about what is computed.
bool IsLeftOut(const hlo::Attribute& attribute) {
  switch (hlo::KindOf(attribute.key)) {
    case hlo::ValueKind::kComputation:
    case hlo::ValueKind::kComputations:
    case hlo::ValueKind::kInstructions:
    case hlo::ValueKind::kFrontendAttributes:
    case hlo::ValueKind::kOrigin:
      return true;
    default:
      return false;
  }
}

// An expression, or a tuple of some.
struct Tree {
  ExprName name = 0;
  std::shared_ptr<const std::vector<Tree>> parts = nullptr;
};

Tree TupleOf(std::vector<Tree> parts) {
  return {0, std::make_shared<const std::vector<Tree>>(std::move(parts))};
}

// The expressions of a tree, in order.
void Flatten(const Tree& tree, std::vector<ExprName>& names) {
  std::vector<const Tree*> stack = {&tree};
  while (!stack.empty()) {
    const Tree& top = *stack.back();
    stack.pop_back();
    if (top.parts == nullptr) {
      names.push_back(top.name);
      continue;
    }
    for (size_t k = top.parts->size(); k-- > 0;) stack.push_back(&(*top.parts)[k]);
  }
}

// The result of a scalar operation on integers that are known. Absent if it is not one of a few, or
// if its type cannot hold the result.
std::optional<int64_t> Compute(const hlo::Module& m, InstrId id, const std::vector<int64_t>& n) {
  const auto checked = [&](int64_t result) -> std::optional<int64_t> {
    const ElementType type = m.shapes[m.instructions[id].shape].type;
    const bool is_wide = type == ElementType::kS64;
    const int64_t low = type == ElementType::kU32 ? 0 : std::numeric_limits<int32_t>::min();
    const int64_t high = type == ElementType::kU32 ? std::numeric_limits<uint32_t>::max()
                                                   : std::numeric_limits<int32_t>::max();
    if (!is_wide && (result < low || result > high)) return std::nullopt;
    return result;
  };
  int64_t value = 0;
  switch (m.instructions[id].opcode) {
    case Opcode::kAdd:
      if (__builtin_add_overflow(n[0], n[1], &value)) return std::nullopt;
      return checked(value);
    case Opcode::kSubtract:
      if (__builtin_sub_overflow(n[0], n[1], &value)) return std::nullopt;
      return checked(value);
    case Opcode::kMultiply:
      if (__builtin_mul_overflow(n[0], n[1], &value)) return std::nullopt;
      return checked(value);
    case Opcode::kMaximum:
      return std::max(n[0], n[1]);
    case Opcode::kMinimum:
      return std::min(n[0], n[1]);
    case Opcode::kClamp:
      return std::min(std::max(n[0], n[1]), n[2]);
    case Opcode::kConvert:
      return checked(n[0]);
    case Opcode::kSelect:
      return n[0] != 0 ? n[1] : n[2];
    case Opcode::kCompare: {
      const auto* direction = m.FindAttribute(id, AttributeKey::kDirection);
      if (direction == nullptr) return std::nullopt;
      const std::string_view how = m.view(direction->text());
      if (how == "LT") return n[0] < n[1] ? 1 : 0;
      if (how == "LE") return n[0] <= n[1] ? 1 : 0;
      if (how == "GT") return n[0] > n[1] ? 1 : 0;
      if (how == "GE") return n[0] >= n[1] ? 1 : 0;
      if (how == "EQ") return n[0] == n[1] ? 1 : 0;
      if (how == "NE") return n[0] != n[1] ? 1 : 0;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// Names what one module computes. Everything is absent once the program is given up.
class Namer {
 public:
  Namer(const hlo::Module& module, Expressions& expressions, bool unrolls, int64_t most_steps)
      : m_(module),
        e_(expressions),
        unrolls_(unrolls),
        steps_(most_steps),
        keys_(module.instructions.size(), kNoText),
        shapes_(module.shapes.size(), kNoText) {}

  std::optional<std::vector<ExprName>> Results() {
    const std::optional<Tree> tree = Call(m_.entry, Parameters(m_.entry, "argument"));
    if (!tree) return std::nullopt;
    std::vector<ExprName> names;
    Flatten(*tree, names);
    return names;
  }

 private:
  static constexpr uint32_t kNoText = 0xffffffffU;

  uint32_t ShapeText(ShapeId shape) {
    uint32_t& text = shapes_[shape.index];
    if (text == kNoText)
      text = e_.TextOf(hlo::ToString(m_.shapes, shape, {.index_comments = false}));
    return text;
  }
  // Opcode, result and attributes.
  uint32_t KeyOf(InstrId id) {
    uint32_t& key = keys_[id.index];
    if (key != kNoText) return key;
    std::string text(m_.opcode_name(id));
    text += ' ';
    hlo::AppendShape(m_.shapes, m_.instructions[id].shape, {.index_comments = false}, text);
    for (const hlo::Attribute& attribute : m_.attributes_of(id)) {
      if (IsLeftOut(attribute)) continue;
      text += ' ';
      hlo::AppendAttribute(m_, attribute, m_.dialect, text);
    }
    // No two of these do the same.
    if (HasEffect(m_, id)) text += std::string(" ") + std::string(m_.name(id));
    return key = e_.TextOf(std::move(text));
  }

  // A tree of the shape's form.
  template <typename MakeLeaf>
  Tree TreeOf(ShapeId shape, std::vector<int64_t>& index, const MakeLeaf& leaf) {
    // Tuples in tuples without end are not looked into.
    if (!m_.shapes.is_tuple(shape) || index.size() > kMostCalls)
      return {leaf(shape, index), nullptr};
    std::vector<Tree> parts;
    for (const ShapeId part : m_.shapes.elements(shape)) {
      index.push_back(static_cast<int64_t>(parts.size()));
      parts.push_back(TreeOf(part, index, leaf));
      index.pop_back();
    }
    return TupleOf(std::move(parts));
  }
  std::vector<Tree> Parameters(CompId computation, const std::string& what) {
    std::vector<Tree> trees;
    const uint32_t text = e_.TextOf(what);
    for (const InstrId id : m_.parameters_of(computation)) {
      std::vector<int64_t> index = {static_cast<int64_t>(trees.size())};
      trees.push_back(TreeOf(m_.instructions[id].shape, index,
                             [&](ShapeId shape, const std::vector<int64_t>& at) {
                               std::vector<int64_t> numbers = at;
                               numbers.push_back(ShapeText(shape));
                               return e_.Add(text, {}, std::move(numbers));
                             }));
    }
    return trees;
  }

  std::optional<Tree> Call(CompId computation, const std::vector<Tree>& arguments) {
    const hlo::Computation& called = m_.computations[computation];
    if (calls_ >= kMostCalls || called.root.is_none()) return std::nullopt;
    ++calls_;
    std::vector<std::optional<Tree>> done(called.count);
    const auto place = [&](InstrId id) -> std::optional<Tree>& {
      return done[id.index - called.first.index];
    };
    std::vector<InstrId> stack = {called.root};
    while (!stack.empty()) {
      const InstrId id = stack.back();
      if (place(id)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (const InstrId operand : m_.operands_of(id)) {
        if (!place(operand)) stack.push_back(operand);
      }
      if (stack.size() != before) continue;
      std::vector<Tree> operands;
      operands.reserve(m_.operands_of(id).size());
      for (const InstrId operand : m_.operands_of(id)) operands.push_back(*place(operand));
      if (--steps_ < 0) return std::nullopt;
      place(id) = m_.instructions[id].opcode == Opcode::kParameter ? Argument(id, arguments)
                                                                   : Apply(id, operands);
      if (!place(id)) return std::nullopt;
      stack.pop_back();
    }
    --calls_;
    return place(called.root);
  }

  std::optional<Tree> Argument(InstrId id, const std::vector<Tree>& arguments) const {
    const int64_t number = m_.NumberOr(id, AttributeKey::kParameterNumber, 0);
    if (number < 0 || static_cast<size_t>(number) >= arguments.size()) return std::nullopt;
    return arguments[static_cast<size_t>(number)];
  }
  static std::optional<Tree> Part(const Tree& tree, int64_t index) {
    if (tree.parts == nullptr || index < 0 || static_cast<size_t>(index) >= tree.parts->size())
      return std::nullopt;
    return (*tree.parts)[static_cast<size_t>(index)];
  }

  std::optional<Tree> Apply(InstrId id, const std::vector<Tree>& operands) {
    const std::span<const CompId> called = m_.called_by(id);
    const ShapeId shape = m_.instructions[id].shape;
    switch (m_.instructions[id].opcode) {
      case Opcode::kTuple:
        return TupleOf(operands);
      case Opcode::kGetTupleElement:
        return Part(operands.at(0), m_.NumberOr(id, AttributeKey::kIndex, 0));
      case Opcode::kFusion:
      case Opcode::kCall:
        return called.size() == 1 ? Call(called[0], operands) : Other(id, operands);
      case Opcode::kAsyncStart: {
        if (called.size() != 1) return Other(id, operands);
        std::optional<Tree> result = Call(called[0], operands);
        if (!result) return std::nullopt;
        return TupleOf({TupleOf(operands), *std::move(result)});
      }
      case Opcode::kAsyncUpdate:
        return operands.at(0);
      case Opcode::kAsyncDone:
        return Part(operands.at(0), 1);
      case Opcode::kWhile:
        return Loop(id, operands);
      case Opcode::kCopy:
        if (ShapeText(shape) == ShapeText(m_.instructions[m_.operands_of(id)[0]].shape))
          return operands[0];
        return Other(id, operands);
      case Opcode::kBitcast:
        if (operands.at(0).parts != nullptr) return Other(id, operands);
        return Tree{e_.AddBitcast(ShapeText(shape), operands[0].name,
                                  ShapeText(m_.instructions[m_.operands_of(id)[0]].shape))};
      case Opcode::kDynamicSlice:
        if (const auto box = BoxOf(operands, 1, m_.operands_of(id)[0], shape))
          return Tree{e_.AddSlice(ShapeText(shape), operands[0].name, *box)};
        return Other(id, operands);
      case Opcode::kDynamicUpdateSlice:
        if (operands.size() < 2) return std::nullopt;
        if (const auto box = BoxOf(operands, 2, m_.operands_of(id)[0],
                                   m_.instructions[m_.operands_of(id)[1]].shape))
          return Tree{e_.AddUpdate(operands[0].name, operands[1].name, *box)};
        return Other(id, operands);
      default:
        if (const std::optional<int64_t> number = NumberOf(id, operands))
          return Tree{e_.AddNumber(ShapeText(shape), *number)};
        return Other(id, operands);
    }
  }

  // A loop whose trips can be counted; otherwise an operation like any other.
  std::optional<Tree> Loop(InstrId id, const std::vector<Tree>& operands) {
    if (!unrolls_ || operands.size() != 1 || m_.called_by(id).size() != 2)
      return Other(id, operands);
    const CompId does = m_.called_by(id)[0];
    const CompId asks = m_.called_by(id)[1];
    if (MayHaveEffects(does)) return Other(id, operands);
    Tree state = operands[0];
    while (true) {
      const std::optional<Tree> goes_on = Call(asks, {state});
      if (!goes_on) return std::nullopt;
      const std::optional<int64_t> known =
          goes_on->parts == nullptr ? e_.NumberOf(goes_on->name) : std::nullopt;
      if (!known) return Other(id, operands);
      if (*known == 0) return state;
      std::optional<Tree> next = Call(does, {state});
      if (!next) return std::nullopt;
      state = *std::move(next);
    }
  }
  bool MayHaveEffects(CompId computation) {
    const auto [row, is_new] = effects_.emplace(computation.index, true);
    if (!is_new) return row->second;
    const hlo::Computation& rows = m_.computations[computation];
    for (uint32_t i = 0; i < rows.count; ++i) {
      const InstrId id(rows.first.index + i);
      if (HasEffect(m_, id)) return true;
      for (const CompId callee : m_.called_by(id)) {
        if (calls_ + ++depth_ > kMostCalls || MayHaveEffects(callee)) return true;
        --depth_;
      }
    }
    return effects_[computation.index] = false;
  }

  std::optional<int64_t> NumberOf(InstrId id, const std::vector<Tree>& operands) const {
    const ShapeId shape = m_.instructions[id].shape;
    if (m_.shapes.is_tuple(shape) || !m_.shapes.dims(shape).empty()) return std::nullopt;
    const ElementType type = m_.shapes[shape].type;
    if (type != ElementType::kS32 && type != ElementType::kU32 && type != ElementType::kS64 &&
        type != ElementType::kPred)
      return std::nullopt;
    if (m_.instructions[id].opcode == Opcode::kConstant) {
      const auto* literal = m_.FindAttribute(id, AttributeKey::kLiteral);
      if (literal == nullptr) return std::nullopt;
      const std::string_view text = m_.view(literal->text());
      if (text == "true" || text == "false") return text == "true" ? 1 : 0;
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return number;
    }
    std::vector<int64_t> numbers;
    for (const Tree& operand : operands) {
      const std::optional<int64_t> number =
          operand.parts == nullptr ? e_.NumberOf(operand.name) : std::nullopt;
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    if (numbers.empty()) return std::nullopt;
    return Compute(m_, id, numbers);
  }

  // The box of an array that is read or written, if its place is known and inside.
  std::optional<Expressions::Box> BoxOf(const std::vector<Tree>& operands, size_t first,
                                        InstrId array, ShapeId slice) const {
    const std::span<const int64_t> dims = m_.shapes.dims(m_.instructions[array].shape);
    const std::span<const int64_t> sizes = m_.shapes.dims(slice);
    if (operands.size() != first + dims.size() || sizes.size() != dims.size() ||
        operands[0].parts != nullptr)
      return std::nullopt;
    Expressions::Box box;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Tree& start = operands[first + d];
      const std::optional<int64_t> number =
          start.parts == nullptr ? e_.NumberOf(start.name) : std::nullopt;
      if (!number || *number < 0 || *number > dims[d] - sizes[d]) return std::nullopt;
      box.starts.push_back(*number);
      box.sizes.push_back(sizes[d]);
    }
    return box;
  }

  std::optional<Tree> Other(InstrId id, const std::vector<Tree>& operands) {
    std::vector<ExprName> names;
    for (const Tree& operand : operands) Flatten(operand, names);
    for (const CompId callee : m_.called_by(id)) {
      const std::optional<ExprName> meaning = Function(callee);
      if (!meaning) return std::nullopt;
      names.push_back(*meaning);
    }
    const ExprName whole = e_.Add(KeyOf(id), std::move(names));
    const ShapeId shape = m_.instructions[id].shape;
    if (!m_.shapes.is_tuple(shape)) return Tree{whole};
    const uint32_t part = e_.TextOf("part");
    std::vector<int64_t> index;
    return TreeOf(shape, index, [&](ShapeId, const std::vector<int64_t>& at) {
      return e_.Add(part, {whole}, at);
    });
  }
  // What a computation makes of any arguments.
  std::optional<ExprName> Function(CompId computation) {
    if (const auto known = functions_.find(computation.index); known != functions_.end())
      return known->second;
    const std::optional<Tree> result = Call(computation, Parameters(computation, "inner"));
    if (!result) return std::nullopt;
    std::vector<ExprName> names;
    Flatten(*result, names);
    return functions_[computation.index] = e_.Add(e_.TextOf("function"), std::move(names));
  }

  const hlo::Module& m_;
  Expressions& e_;
  const bool unrolls_;
  int64_t steps_;
  int calls_ = 0;
  int depth_ = 0;
  std::vector<uint32_t> keys_;    // by instruction
  std::vector<uint32_t> shapes_;  // by shape: its text
  std::map<uint32_t, ExprName> functions_;
  std::map<uint32_t, bool> effects_;
};

// Names of what has effects, sorted.
std::vector<std::string> EffectsOf(const hlo::Module& module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (HasEffect(module, InstrId(i))) names.emplace_back(module.name(InstrId(i)));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

class SameResults::Impl {
 public:
  Impl(const hlo::Module& given, int64_t most_steps) : given_(given), most_steps_(most_steps) {}

  bool AreThoseOf(const hlo::Module& changed) {
    if (EffectsOf(given_) != EffectsOf(changed)) return false;
    return std::ranges::any_of(std::vector<bool>{false, true}, [&](bool unrolls) {
      std::optional<std::vector<ExprName>>& given = given_results_[unrolls ? 1 : 0];
      if (!given) given = Namer(given_, expressions_, unrolls, most_steps_).Results();
      return given && given == Namer(changed, expressions_, unrolls, most_steps_).Results();
    });
  }

 private:
  const hlo::Module& given_;
  const int64_t most_steps_;
  Expressions expressions_;
  std::optional<std::vector<ExprName>> given_results_[2];  // loops as operations, and unrolled
};

SameResults::SameResults(const hlo::Module& given, int64_t most_steps)
    : impl_(std::make_unique<Impl>(given, most_steps)) {}
SameResults::~SameResults() = default;
bool SameResults::AreThoseOf(const hlo::Module& changed) { return impl_->AreThoseOf(changed); }

}  // namespace stowplan::check
