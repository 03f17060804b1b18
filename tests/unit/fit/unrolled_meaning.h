// SPDX-License-Identifier: Apache-2.0
// What a program computes, with all loops unrolled: two programs that apply the same operations to
// the same operands have equal results here, wherever they keep things in between. A slice of an
// array that was written before is what was written.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan {

// Expressions, each once. Shared by the programs that are compared.
class Expressions {
 public:
  struct Row {
    std::string key;  // operation, shape and attributes
    std::vector<uint32_t> operands;
    std::vector<int64_t> numbers;  // a scalar that is known; starts of slices
    friend auto operator<=>(const Row&, const Row&) = default;
  };
  uint32_t Add(Row row) {
    const auto [found, is_new] = ids_.emplace(row, static_cast<uint32_t>(rows_.size()));
    if (is_new) rows_.push_back(std::move(row));
    return found->second;
  }
  [[nodiscard]] const Row& operator[](uint32_t id) const { return rows_[id]; }
  [[nodiscard]] size_t size() const { return rows_.size(); }

 private:
  std::vector<Row> rows_;
  std::map<Row, uint32_t> ids_;
};

class UnrolledMeaning {
 public:
  // An expression, or a tuple.
  struct Tree {
    uint32_t id = 0;
    std::shared_ptr<std::vector<Tree>> parts;
    friend bool operator==(const Tree& a, const Tree& b) {
      if ((a.parts == nullptr) != (b.parts == nullptr)) return false;
      return a.parts == nullptr ? a.id == b.id : *a.parts == *b.parts;
    }
  };

  UnrolledMeaning(const hlo::Module& module, Expressions& expressions)
      : m_(module), e_(expressions) {}

  Tree Find() { return Call(m_.entry, Parameters(m_.entry, "argument")); }

 private:
  using InstrId = hlo::InstrId;
  using Opcode = hlo::Opcode;
  using Key = hlo::AttributeKey;

  [[nodiscard]] std::string ShapeOf(InstrId id) const {
    return hlo::ToString(m_.shapes, m_.instructions[id].shape, {.index_comments = false});
  }
  Tree Leaf(const std::string& name, hlo::ShapeId shape) {
    if (!m_.shapes.is_tuple(shape))
      return {e_.Add({name + " " + hlo::ToString(m_.shapes, shape), {}, {}}), nullptr};
    Tree tree = {0, std::make_shared<std::vector<Tree>>()};
    int k = 0;
    for (const hlo::ShapeId part : m_.shapes.elements(shape))
      tree.parts->push_back(Leaf(name + "." + std::to_string(k++), part));
    return tree;
  }
  std::vector<Tree> Parameters(hlo::CompId computation, const std::string& name) {
    std::vector<Tree> trees;
    for (const InstrId id : m_.parameters_of(computation))
      trees.push_back(Leaf(name + std::to_string(trees.size()), m_.instructions[id].shape));
    return trees;
  }

  Tree Call(hlo::CompId computation, const std::vector<Tree>& arguments) {
    std::map<InstrId, Tree> done;
    std::vector<InstrId> stack = {m_.computations[computation].root};
    while (!stack.empty()) {
      const InstrId id = stack.back();
      if (done.contains(id)) {
        stack.pop_back();
        continue;
      }
      bool is_ready = true;
      for (const InstrId operand : m_.operands_of(id)) {
        if (done.contains(operand)) continue;
        stack.push_back(operand);
        is_ready = false;
      }
      if (!is_ready) continue;
      std::vector<Tree> operands;
      for (const InstrId operand : m_.operands_of(id)) operands.push_back(done.at(operand));
      done[id] = m_.instructions[id].opcode == Opcode::kParameter
                     ? arguments.at(static_cast<size_t>(m_.NumberOr(id, Key::kParameterNumber, 0)))
                     : Apply(id, operands);
      stack.pop_back();
    }
    return done.at(m_.computations[computation].root);
  }

  Tree Apply(InstrId id, const std::vector<Tree>& operands) {
    switch (m_.instructions[id].opcode) {
      case Opcode::kTuple:
        return {0, std::make_shared<std::vector<Tree>>(operands)};
      case Opcode::kGetTupleElement:
        return operands[0].parts->at(static_cast<size_t>(m_.NumberOr(id, Key::kIndex, 0)));
      case Opcode::kFusion:
      case Opcode::kCall:
        return Call(m_.called_by(id)[0], operands);
      case Opcode::kAsyncStart:
        return {0, std::make_shared<std::vector<Tree>>(
                       std::vector<Tree>{{}, Call(m_.called_by(id)[0], operands)})};
      case Opcode::kAsyncDone:
        return operands[0].parts->at(1);
      case Opcode::kWhile:
        return Loop(id, operands[0]);
      case Opcode::kCopy:
        if (ShapeOf(id) == ShapeOf(m_.operands_of(id)[0])) return operands[0];
        return Other(id, operands);
      case Opcode::kBitcast:
        return Bitcast(id, operands[0]);
      case Opcode::kDynamicSlice:
        return Slice(id, operands);
      case Opcode::kDynamicUpdateSlice:
        return Update(id, operands);
      default:
        if (const std::optional<int64_t> number = NumberOf(id, operands))
          return Number(id, *number);
        return Other(id, operands);
    }
  }

  Tree Loop(InstrId id, Tree state) {
    for (int trip = 0; trip < 1000; ++trip) {
      const Tree goes_on = Call(m_.called_by(id)[1], {state});
      const std::vector<int64_t>& known = e_[goes_on.id].numbers;
      if (known.size() != 1) throw std::runtime_error("a loop of unknown length");
      if (known[0] == 0) return state;
      state = Call(m_.called_by(id)[0], {state});
    }
    throw std::runtime_error("a loop without end");
  }

  Tree Number(InstrId id, int64_t number) {
    return {e_.Add({"number " + ShapeOf(id), {}, {number}}), nullptr};
  }
  std::optional<int64_t> NumberOf(InstrId id, const std::vector<Tree>& operands) const {
    const hlo::ShapeId shape = m_.instructions[id].shape;
    const auto type = m_.shapes[shape].type;
    if (type != hlo::ElementType::kS32 && type != hlo::ElementType::kPred) return std::nullopt;
    if (!m_.shapes.dims(shape).empty()) return std::nullopt;
    if (m_.instructions[id].opcode == Opcode::kConstant) {
      const std::string text(m_.view(m_.FindAttribute(id, Key::kLiteral)->text()));
      if (text == "true" || text == "false") return text == "true" ? 1 : 0;
      return std::stoll(text);
    }
    std::vector<int64_t> n;
    for (const Tree& operand : operands) {
      if (operand.parts != nullptr || e_[operand.id].numbers.size() != 1 ||
          !e_[operand.id].operands.empty())
        return std::nullopt;
      n.push_back(e_[operand.id].numbers[0]);
    }
    switch (m_.instructions[id].opcode) {
      case Opcode::kAdd:
        return n[0] + n[1];
      case Opcode::kSubtract:
        return n[0] - n[1];
      case Opcode::kMultiply:
        return n[0] * n[1];
      case Opcode::kSelect:
        return n[0] != 0 ? n[1] : n[2];
      case Opcode::kCompare: {
        const auto how = m_.view(m_.FindAttribute(id, Key::kDirection)->text());
        return how == "LT" ? n[0] < n[1] : how == "EQ" ? n[0] == n[1] : n[0] > n[1];
      }
      default:
        return std::nullopt;
    }
  }

  Tree Bitcast(InstrId id, Tree operand) {
    if (operand.parts != nullptr) return operand;
    const std::string shape = ShapeOf(id);
    std::string from = ShapeOf(m_.operands_of(id)[0]);
    if (const Expressions::Row& row = e_[operand.id]; row.key.starts_with("bitcast ")) {
      from = row.key.substr(row.key.find(" from ") + 6);
      operand.id = row.operands[0];
    }
    if (from == shape) return operand;
    return {e_.Add({"bitcast " + shape + " from " + from, {operand.id}, {}}), nullptr};
  }

  // None if a start is not known.
  [[nodiscard]] std::optional<std::vector<int64_t>> StartsIn(const std::vector<Tree>& operands,
                                                             size_t first) const {
    std::vector<int64_t> starts;
    for (size_t k = first; k < operands.size(); ++k) {
      if (e_[operands[k].id].numbers.size() != 1) return std::nullopt;
      starts.push_back(e_[operands[k].id].numbers[0]);
    }
    return starts;
  }
  Tree Update(InstrId id, const std::vector<Tree>& operands) {
    const auto starts = StartsIn(operands, 2);
    if (!starts) return Other(id, operands);
    return {e_.Add({"update " + ShapeOf(m_.operands_of(id)[1]),
                    {operands[0].id, operands[1].id},
                    *starts}),
            nullptr};
  }
  // Updates of the same shape at other starts are elsewhere: in stacks, slices do not overlap.
  Tree Slice(InstrId id, const std::vector<Tree>& operands) {
    const auto starts = StartsIn(operands, 1);
    if (!starts) return Other(id, operands);
    uint32_t array = operands[0].id;
    while (e_[array].key == "update " + ShapeOf(id)) {
      if (e_[array].numbers == *starts) return {e_[array].operands[1], nullptr};
      array = e_[array].operands[0];
    }
    return {e_.Add({"slice " + ShapeOf(id), {array}, *starts}), nullptr};
  }

  Tree Other(InstrId id, const std::vector<Tree>& operands) {
    Expressions::Row row = {std::string(m_.opcode_name(id)) + " " + ShapeOf(id), {}, {}};
    for (const hlo::Attribute& attribute : m_.attributes_of(id)) Append(attribute, row.key);
    for (const Tree& operand : operands) Flatten(operand, row.operands);
    for (const hlo::CompId callee : m_.called_by(id))
      Flatten(Call(callee, Parameters(callee, "inner")), row.operands);
    const uint32_t whole = e_.Add(std::move(row));
    return Parts(whole, "", m_.instructions[id].shape);
  }
  static void Flatten(const Tree& tree, std::vector<uint32_t>& ids) {
    if (tree.parts == nullptr) {
      ids.push_back(tree.id);
      return;
    }
    for (const Tree& part : *tree.parts) Flatten(part, ids);
  }
  Tree Parts(uint32_t whole, const std::string& index, hlo::ShapeId shape) {
    if (!m_.shapes.is_tuple(shape))
      return {index.empty() ? whole : e_.Add({"part " + index, {whole}, {}}), nullptr};
    Tree tree = {0, std::make_shared<std::vector<Tree>>()};
    int k = 0;
    for (const hlo::ShapeId part : m_.shapes.elements(shape))
      tree.parts->push_back(Parts(whole, index + "." + std::to_string(k++), part));
    return tree;
  }

  void Append(const hlo::Attribute& attribute, std::string& key) const {
    switch (hlo::KindOf(attribute.key)) {
      case hlo::ValueKind::kComputation:
      case hlo::ValueKind::kComputations:
      case hlo::ValueKind::kInstructions:
      case hlo::ValueKind::kConfig:
      case hlo::ValueKind::kFrontendAttributes:
      case hlo::ValueKind::kOrigin:
      case hlo::ValueKind::kShape:
      case hlo::ValueKind::kShapes:
        return;
      case hlo::ValueKind::kInt:
      case hlo::ValueKind::kBool:
        key += " " + std::to_string(static_cast<int>(attribute.key)) + "=" +
               std::to_string(attribute.number());
        return;
      case hlo::ValueKind::kInts:
      case hlo::ValueKind::kBools:
      case hlo::ValueKind::kIntLists:
      case hlo::ValueKind::kWindow:
      case hlo::ValueKind::kSlices:
      case hlo::ValueKind::kPadding:
      case hlo::ValueKind::kAliasing:
        key += " " + std::to_string(static_cast<int>(attribute.key)) + "=";
        for (const int64_t number : hlo::Module::Rows(m_.ints, attribute.rows()))
          key += std::to_string(number) + ",";
        return;
      case hlo::ValueKind::kWords:
        for (const hlo::Text text : hlo::Module::Rows(m_.texts, attribute.rows()))
          key += " " + std::string(m_.view(text));
        return;
      default:
        key += " " + std::to_string(static_cast<int>(attribute.key)) + "=" +
               std::string(m_.view(attribute.text()));
    }
  }

  const hlo::Module& m_;
  Expressions& e_;
};

}  // namespace stowplan
