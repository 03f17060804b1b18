// SPDX-License-Identifier: Apache-2.0
#include "fit/trip_values.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "cost/trips.h"

namespace stowplan::fit {
namespace {

using hlo::AttributeKey;
using hlo::ElementType;
using hlo::InstrId;
using hlo::Opcode;

// No expression that a compiler makes for an index is larger.
constexpr int kMostEvaluations = 256;
constexpr int kMostDepth = 32;

bool IsInRange(ElementType type, int64_t value) {
  switch (type) {
    case ElementType::kPred:
      return value == 0 || value == 1;
    case ElementType::kS32:
      return value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max();
    case ElementType::kU32:
      return value >= 0 && value <= std::numeric_limits<uint32_t>::max();
    case ElementType::kS64:
      return true;
    case ElementType::kU64:
      return value >= 0;
    default:
      return false;
  }
}

bool Compare(std::string_view direction, int64_t a, int64_t b) {
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  if (direction == "EQ") return a == b;
  return a != b;
}

// Far from where 64 bits end.
constexpr int64_t kLarge = int64_t{1} << 31;
bool IsSmall(int64_t value) { return value >= -kLarge && value <= kLarge; }

// Evaluates one expression for given elements of the loop's tuple.
class ScalarEvaluator {
 public:
  ScalarEvaluator(const hlo::Module& module, const std::map<int64_t, int64_t>& elements)
      : module_(module), elements_(elements) {}

  std::optional<int64_t> Find(InstrId id, const Scope* scope, int depth) {
    if (++steps_ > kMostEvaluations || depth > kMostDepth) return std::nullopt;
    const hlo::ShapeId shape = module_.instructions[id].shape;
    const ElementType type = module_.shapes[shape].type;
    if (type == ElementType::kTuple || !module_.shapes.dims(shape).empty()) return std::nullopt;
    const std::optional<int64_t> value = Unchecked(id, scope, depth);
    return value && IsInRange(type, *value) ? value : std::nullopt;
  }

 private:
  std::optional<int64_t> Unchecked(InstrId id, const Scope* scope, int depth) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    const auto operand = [&](size_t k) {
      return k < operands.size() ? Find(operands[k], scope, depth + 1) : std::nullopt;
    };
    switch (module_.instructions[id].opcode) {
      case Opcode::kConstant:
        return ConstantOf(id);
      case Opcode::kParameter:
        return Parameter(id, scope, depth);
      case Opcode::kGetTupleElement:
        return Element(id, scope);
      case Opcode::kCopy:
      case Opcode::kBitcast:
      case Opcode::kReshape:
      case Opcode::kConvert:
        return operand(0);
      case Opcode::kFusion: {
        const Scope inner = {id, scope};
        return Find(module_.computations[module_.called_by(id)[0]].root, &inner, depth + 1);
      }
      case Opcode::kNegate: {
        const auto a = operand(0);
        return a && IsSmall(*a) ? std::optional(-*a) : std::nullopt;
      }
      case Opcode::kSelect: {
        const auto a = operand(0);
        return a ? operand(*a != 0 ? 1 : 2) : std::nullopt;
      }
      default:
        return Binary(id, operand(0), operand(1));
    }
  }

  std::optional<int64_t> Binary(InstrId id, std::optional<int64_t> a, std::optional<int64_t> b) {
    if (!a || !b || !IsSmall(*a) || !IsSmall(*b)) return std::nullopt;
    switch (module_.instructions[id].opcode) {
      case Opcode::kAdd:
        return *a + *b;
      case Opcode::kSubtract:
        return *a - *b;
      case Opcode::kMultiply:
        return *a * *b;
      case Opcode::kMinimum:
        return std::min(*a, *b);
      case Opcode::kMaximum:
        return std::max(*a, *b);
      case Opcode::kCompare: {
        const hlo::Attribute* direction = module_.FindAttribute(id, AttributeKey::kDirection);
        if (direction == nullptr) return std::nullopt;
        return static_cast<int64_t>(Compare(module_.view(direction->text()), *a, *b));
      }
      default:
        return std::nullopt;
    }
  }

  std::optional<int64_t> ConstantOf(InstrId id) const {
    const hlo::Attribute* literal = module_.FindAttribute(id, AttributeKey::kLiteral);
    if (literal == nullptr) return std::nullopt;
    const std::string_view text = module_.view(literal->text());
    if (text == "true") return 1;
    if (text == "false") return 0;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  std::optional<int64_t> Parameter(InstrId id, const Scope* scope, int depth) {
    const int64_t number = module_.NumberOr(id, AttributeKey::kParameterNumber, -1);
    if (scope == nullptr || number < 0) return std::nullopt;
    const std::span<const InstrId> operands = module_.operands_of(scope->caller);
    if (static_cast<size_t>(number) >= operands.size()) return std::nullopt;
    return Find(operands[static_cast<size_t>(number)], scope->outer, depth + 1);
  }
  // Of the tuple that the loop carries.
  [[nodiscard]] std::optional<int64_t> Element(InstrId id, const Scope* scope) const {
    const InstrId tuple = module_.operands_of(id)[0];
    if (scope != nullptr || module_.instructions[tuple].opcode != Opcode::kParameter)
      return std::nullopt;
    const auto found = elements_.find(module_.NumberOr(id, AttributeKey::kIndex, -1));
    return found == elements_.end() ? std::nullopt : std::optional(found->second);
  }

  const hlo::Module& module_;
  const std::map<int64_t, int64_t>& elements_;
  int steps_ = 0;
};

}  // namespace

InstrId OnlyInstruction(const hlo::Module& module, hlo::CompId computation) {
  const InstrId root = module.computations[computation].root;
  const std::span<const InstrId> parameters = module.parameters_of(computation);
  const std::span<const InstrId> operands = module.operands_of(root);
  if (module.computations[computation].count != parameters.size() + 1 ||
      !std::ranges::equal(parameters, operands))
    return {};
  return root;
}

TripValues::TripValues(const hlo::Module& module, InstrId loop) : module_(module), loop_(loop) {
  Count();
}

std::optional<int64_t> TripValues::Evaluate(InstrId id, const Scope* scope,
                                            const Elements& elements) const {
  return ScalarEvaluator(module_, elements).Find(id, scope, 0);
}

void TripValues::Count() {
  const InstrId init = module_.operands_of(loop_)[0];
  const std::span<const hlo::CompId> called = module_.called_by(loop_);
  const InstrId root = module_.computations[called[0]].root;
  if (module_.instructions[init].opcode != Opcode::kTuple ||
      module_.instructions[root].opcode != Opcode::kTuple)
    return;
  const std::span<const InstrId> first = module_.operands_of(init);
  const std::span<const InstrId> next = module_.operands_of(root);
  Elements now;
  for (size_t k = 0; k < first.size() && k < next.size(); ++k) {
    const auto begin = Evaluate(first[k], nullptr, {});
    if (!begin || !Evaluate(next[k], nullptr, {{static_cast<int64_t>(k), *begin}})) continue;
    now[static_cast<int64_t>(k)] = *begin;
  }
  const InstrId condition = module_.computations[called[1]].root;
  int64_t count = 0;
  while (true) {
    const auto goes_on = Evaluate(condition, nullptr, now);
    if (!goes_on || count > kMostTrips) return;
    if (*goes_on == 0) break;
    Elements after;
    for (const auto& [element, value] : now) {
      counters_[element].push_back(value);
      if (const auto changed =
              Evaluate(next[static_cast<size_t>(element)], nullptr, {{element, value}}))
        after[element] = *changed;
    }
    now = std::move(after);
    ++count;
  }
  std::erase_if(counters_, [&](const auto& entry) { return std::ssize(entry.second) != count; });
  const std::optional<int64_t> known = cost::KnownTrips(module_, loop_);
  if (!known || *known == count) trips_ = count;
}

std::vector<int64_t> TripValues::Find(InstrId id, const Scope* scope) const {
  std::vector<int64_t> values;
  Elements now;
  for (int64_t trip = 0; trip < trips_.value_or(0); ++trip) {
    for (const auto& [element, counter] : counters_)
      now[element] = counter[static_cast<size_t>(trip)];
    const auto value = Evaluate(id, scope, now);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

}  // namespace stowplan::fit
