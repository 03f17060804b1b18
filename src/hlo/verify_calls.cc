// SPDX-License-Identifier: Apache-2.0
// Shapes across calls, and aliases between an instruction's result and its operands.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo/verify_complaints.h"

namespace stowplan::hlo {
namespace {

std::string Callee(const Verifier& v, const char* role, CompId id) {
  return std::string(role) + " " + Quote(v.module.name(id));
}

// Parameters of `callee` against the shapes that the call at `id` passes.
void VerifyArguments(Verifier& v, InstrId id, const char* role, CompId callee,
                     std::span<const ShapeId> arguments) {
  const std::span<const InstrId> parameters = v.module.parameters_of(callee);
  if (parameters.size() != arguments.size()) {
    v.complaints.At(id, Callee(v, role, callee) + " has " + std::to_string(parameters.size()) +
                            (parameters.size() == 1 ? " parameter" : " parameters") +
                            ", but is given " + std::to_string(arguments.size()));
    return;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ShapeId parameter = v.shape(parameters[i]);
    if (v.IsCompatible(parameter, arguments[i])) continue;
    v.complaints.At(
        id, "parameter " + std::to_string(i) + " of " + Callee(v, role, callee) +
                " and what it is given differ: " + v.DescribeDifference(parameter, arguments[i]));
  }
}

void VerifyResult(Verifier& v, InstrId id, const char* role, CompId callee, ShapeId expected) {
  const ShapeId result = v.shape(v.module.computations[callee].root);
  if (v.IsCompatible(result, expected)) return;
  v.complaints.At(
      id, "the result of " + Callee(v, role, callee) +
              " and what is expected of it differ: " + v.DescribeDifference(result, expected));
}

std::vector<ShapeId> OperandShapes(const Verifier& v, InstrId id) {
  std::vector<ShapeId> shapes;
  for (const InstrId operand : v.module.operands_of(id)) shapes.push_back(v.shape(operand));
  return shapes;
}

void VerifyWhile(Verifier& v, InstrId id) {
  const std::span<const CompId> called = v.module.called_by(id);
  if (called.size() != 2) {
    v.complaints.At(id, "a while needs a condition and a body");
    return;
  }
  const CompId body = called[0];
  const CompId condition = called[1];
  const std::vector<ShapeId> state = OperandShapes(v, id);
  if (!v.IsCompatible(v.shape(id), state[0])) {
    v.complaints.At(id, "its shape and that of its operand differ: " +
                            v.DescribeDifference(v.shape(id), state[0]));
  }
  VerifyArguments(v, id, "the condition", condition, state);
  VerifyArguments(v, id, "the body", body, state);
  VerifyResult(v, id, "the body", body, v.shape(id));
  const ShapeId answer = v.shape(v.module.computations[condition].root);
  if (!v.IsScalar(answer, ElementType::kPred)) {
    v.complaints.At(id, Callee(v, "the condition", condition) + " does not return pred[] but " +
                            v.Describe(answer));
  }
}

void VerifyConditional(Verifier& v, InstrId id) {
  const std::vector<ShapeId> operands = OperandShapes(v, id);
  const std::span<const CompId> branches = v.module.called_by(id);
  if (operands.empty() || branches.empty()) {
    v.complaints.At(id, "a conditional needs a selector and branches");
    return;
  }
  const bool is_pred = v.IsScalar(operands[0], ElementType::kPred);
  if (!is_pred && !v.IsScalar(operands[0], ElementType::kS32)) {
    v.complaints.At(id,
                    "it is selected by " + v.Describe(operands[0]) + ", not by pred[] or s32[]");
  }
  if (is_pred && branches.size() != 2) {
    v.complaints.At(
        id, "it is selected by pred[], but has " + std::to_string(branches.size()) + " branches");
  }
  if (operands.size() != branches.size() + 1) {
    v.complaints.At(id, "it has " + std::to_string(branches.size()) +
                            " branches, but operands for " + std::to_string(operands.size() - 1));
    return;
  }
  for (size_t i = 0; i < branches.size(); ++i) {
    VerifyArguments(v, id, "branch", branches[i], std::span(operands).subspan(i + 1, 1));
    VerifyResult(v, id, "branch", branches[i], v.shape(id));
  }
}

// async-start: ((operands), result, contexts...). Since 2026 either part may be left empty, to be
// bound later in the chain; there is nothing to compare then.
void VerifyAsyncStart(Verifier& v, InstrId id, CompId callee) {
  constexpr int64_t kOperands = 0;
  constexpr int64_t kResult = 1;
  const auto operands = v.FindPart(v.shape(id), {&kOperands, 1});
  const auto result = v.FindPart(v.shape(id), {&kResult, 1});
  if (!operands || !result || !v.module.shapes.is_tuple(*operands)) {
    v.complaints.At(
        id, "its shape is " + v.Describe(v.shape(id)) + ", not ((operands), result, contexts)");
    return;
  }
  if (!v.IsEmptyTuple(*operands)) {
    const std::vector<ShapeId> given = OperandShapes(v, id);
    VerifyArguments(v, id, "the wrapped computation", callee, given);
    const auto is_compatible = [&](ShapeId a, ShapeId b) { return v.IsCompatible(a, b); };
    if (!std::ranges::equal(v.module.shapes.elements(*operands), given, is_compatible)) {
      v.complaints.At(id, "the first part of its shape does not hold the shapes of its operands");
    }
  }
  if (!v.IsEmptyTuple(*result)) VerifyResult(v, id, "the wrapped computation", callee, *result);
}

// Reads the rows of an aliasing attribute (see ValueKind::kAliasing); false when they end too
// early.
class AliasReader {
 public:
  explicit AliasReader(std::span<const int64_t> rows) : rows_(rows) {}
  [[nodiscard]] bool is_done() const { return next_ == rows_.size(); }
  bool Number(int64_t& number) {
    if (is_done()) return false;
    number = rows_[next_++];
    return true;
  }
  bool Index(std::span<const int64_t>& index) {
    int64_t length = 0;
    if (!Number(length) || length < 0 || static_cast<uint64_t>(length) > rows_.size() - next_)
      return false;
    index = rows_.subspan(next_, static_cast<size_t>(length));
    next_ += static_cast<size_t>(length);
    return true;
  }

 private:
  std::span<const int64_t> rows_;
  size_t next_ = 0;
};

// Indices of an async operation's output count from its whole shape, or in the short form from the
// result inside it.
std::optional<ShapeId> FindOutput(const Verifier& v, InstrId id, std::span<const int64_t> index,
                                  ShapeId source) {
  const auto output = v.FindPart(v.shape(id), index);
  if (v.module.instructions[id].opcode != Opcode::kAsyncStart ||
      (output && v.IsCompatible(*output, source))) {
    return output;
  }
  std::vector<int64_t> inside = {1};
  inside.insert(inside.end(), index.begin(), index.end());
  const auto result = v.FindPart(v.shape(id), inside);
  return result && v.IsCompatible(*result, source) ? result : output;
}

// A custom call may say that its output and the operand it lies on are meant to differ: on TPUs,
// ZeroCrop makes an array of the padding of another.
bool MayDiffer(const Verifier& v, InstrId id) {
  const Attribute* attribute = v.module.FindAttribute(id, AttributeKey::kFrontendAttributes);
  if (attribute == nullptr || v.module.instructions[id].opcode != Opcode::kCustomCall) return false;
  const auto texts = Module::Rows(v.module.texts, attribute->rows());
  for (size_t k = 0; k + 1 < texts.size(); k += 2) {
    if (v.module.view(texts[k]) == "xla_skip_custom_call_alias_shape_check")
      return v.module.view(texts[k + 1]) == "1";
  }
  return false;
}

void VerifyAlias(Verifier& v, InstrId id, std::span<const int64_t> output, int64_t operand,
                 std::span<const int64_t> index) {
  const std::string attribute = "output_to_operand_aliasing: ";
  const std::span<const InstrId> operands = v.module.operands_of(id);
  if (operand < 0 || operand >= std::ssize(operands)) {
    v.complaints.At(id, attribute + "there is no operand " + std::to_string(operand));
    return;
  }
  const auto source = v.FindPart(v.shape(operands[static_cast<size_t>(operand)]), index);
  if (!source) {
    v.complaints.At(
        id, attribute + "operand " + std::to_string(operand) + " has no part " + IndexText(index));
    return;
  }
  const auto result = FindOutput(v, id, output, *source);
  if (!result) {
    v.complaints.At(id, attribute + "there is no output " + IndexText(output));
  } else if (!v.IsCompatible(v.InsideBuffer(*result), v.InsideBuffer(*source)) &&
             !MayDiffer(v, id)) {
    v.complaints.At(id, attribute + "output " + IndexText(output) + " and operand " +
                            std::to_string(operand) +
                            " differ: " + v.DescribeDifference(*result, *source));
  }
}

}  // namespace

void VerifyCall(Verifier& v, InstrId id) {
  const Opcode opcode = v.module.instructions[id].opcode;
  // What an async operation wraps in its short form is verified where the operation is written.
  if (v.module.instructions[id].is_implicit) return;
  if (opcode == Opcode::kWhile) return VerifyWhile(v, id);
  if (opcode == Opcode::kConditional) return VerifyConditional(v, id);
  const std::span<const CompId> called = v.module.called_by(id);
  if (called.size() != 1) {
    v.complaints.At(id,
                    "it calls " + std::to_string(called.size()) + " computations instead of one");
    return;
  }
  if (opcode == Opcode::kAsyncStart) return VerifyAsyncStart(v, id, called[0]);
  VerifyArguments(v, id, "computation", called[0], OperandShapes(v, id));
  VerifyResult(v, id, "computation", called[0], v.shape(id));
}

void VerifyOperandAliasing(Verifier& v, InstrId id) {
  const Attribute* attribute = v.module.FindAttribute(id, AttributeKey::kOutputToOperandAliasing);
  if (attribute == nullptr) return;
  AliasReader reader(Module::Rows(v.module.ints, attribute->rows()));
  std::vector<std::vector<int64_t>> outputs;
  while (!reader.is_done()) {
    std::span<const int64_t> output;
    std::span<const int64_t> index;
    int64_t operand = 0;
    if (!reader.Index(output) || !reader.Number(operand) || !reader.Index(index)) {
      v.complaints.At(id, "output_to_operand_aliasing is cut short");
      return;
    }
    VerifyAlias(v, id, output, operand, index);
    outputs.emplace_back(output.begin(), output.end());
  }
  std::ranges::sort(outputs);
  const auto twice = std::ranges::adjacent_find(outputs);
  if (twice != outputs.end()) {
    v.complaints.At(id, "output_to_operand_aliasing names output " + IndexText(*twice) + " twice");
  }
}

}  // namespace stowplan::hlo
