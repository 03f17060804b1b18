// SPDX-License-Identifier: Apache-2.0
#include "check/bodies.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace stowplan::check {
namespace {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

std::string_view LiteralAt(const Module& module, InstrId id) {
  const Attribute* attribute = module.FindAttribute(id, AttributeKey::kLiteral);
  return attribute == nullptr ? std::string_view() : module.view(attribute->text());
}

void Append(std::string& words, int64_t number) {
  words += std::to_string(number);
  words += ' ';
}

// False for values that say more than a few numbers or words.
bool AppendAttribute(const Module& module, const Attribute& attribute, std::string& words) {
  Append(words, static_cast<int64_t>(attribute.key));
  switch (hlo::KindOf(attribute.key)) {
    case hlo::ValueKind::kInt:
    case hlo::ValueKind::kBool:
      Append(words, attribute.number());
      return true;
    case hlo::ValueKind::kWord:
    case hlo::ValueKind::kString:
    case hlo::ValueKind::kLiteral: {
      const std::string_view text = module.view(attribute.text());
      Append(words, static_cast<int64_t>(text.size()));
      words += text;
      return true;
    }
    case hlo::ValueKind::kInts:
    case hlo::ValueKind::kSlices:
    case hlo::ValueKind::kPadding: {
      const std::span<const int64_t> rows = Module::Rows(module.ints, attribute.rows());
      Append(words, std::ssize(rows));
      for (const int64_t number : rows) Append(words, number);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

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

Bodies::Bodies(const Module& module, InstrId user) : module_(module), user_(user) {
  is_fusion_ =
      module.instructions[user].opcode == Opcode::kFusion && !module.called_by(user).empty();
  frames_.push_back({});
  root_ = {0, is_fusion_ ? module.computations[module.called_by(user)[0]].root : user};
}

uint32_t Bodies::Enter(const BodyNode& fusion) {
  const auto [row, is_new] = entered_.try_emplace(fusion, static_cast<uint32_t>(frames_.size()));
  if (is_new) frames_.push_back({fusion});
  return row->second;
}

Bodies::Source Bodies::Operand(const BodyNode& node, size_t k, std::vector<int64_t> index) {
  if (node.frame == 0 && !is_fusion_)
    return {.node = {}, .index = {}, .leaf = Leaf{static_cast<uint32_t>(k), std::move(index)}};
  return Follow({node.frame, module_.operands_of(node.id)[k]}, std::move(index));
}

Bodies::Source Bodies::Follow(BodyNode node, std::vector<int64_t> index) {
  for (;;) {
    const std::span<const InstrId> operands = module_.operands_of(node.id);
    switch (opcode(node)) {
      case Opcode::kParameter: {
        const auto k = static_cast<size_t>(
            std::ranges::find(module_.parameters_of(module_.instructions[node.id].parent),
                              node.id) -
            module_.parameters_of(module_.instructions[node.id].parent).begin());
        if (node.frame == 0)
          return {
              .node = {}, .index = {}, .leaf = Leaf{static_cast<uint32_t>(k), std::move(index)}};
        const BodyNode fusion = frames_[node.frame].fusion;
        node = {fusion.frame, module_.operands_of(fusion.id)[k]};
        continue;
      }
      case Opcode::kTuple:
        if (index.empty() || (node.frame == 0 && !is_fusion_) ||
            static_cast<size_t>(index.front()) >= operands.size())
          break;
        node.id = operands[static_cast<size_t>(index.front())];
        index.erase(index.begin());
        continue;
      case Opcode::kGetTupleElement:
        if (node.frame == 0 && !is_fusion_) break;
        index.insert(index.begin(), module_.NumberOr(node.id, AttributeKey::kIndex, 0));
        node.id = operands[0];
        continue;
      case Opcode::kOptBarrier:
      case Opcode::kDomain:
      case Opcode::kAddDependency:
        if (node.frame == 0 && !is_fusion_) break;
        node.id = operands[0];
        continue;
      case Opcode::kFusion:
        if (module_.called_by(node.id).empty() || (node.frame == 0 && !is_fusion_)) break;
        node = {Enter(node), module_.computations[module_.called_by(node.id)[0]].root};
        continue;
      default:
        break;
    }
    return {.node = node, .index = std::move(index), .leaf = std::nullopt};
  }
}

Bodies::Source Bodies::BehindBitcasts(Source source) {
  while (!source.leaf && opcode(source.node) == Opcode::kBitcast) source = Operand(source.node, 0);
  return source;
}

ShapeId Bodies::ShapeOf(const Source& source) const {
  ShapeId at = source.leaf
                   ? module_.instructions[module_.operands_of(user_)[source.leaf->operand]].shape
                   : shape(source.node);
  for (const int64_t number : source.leaf ? source.leaf->index : source.index) {
    if (static_cast<size_t>(number) < module_.shapes.elements(at).size())
      at = module_.shapes.elements(at)[static_cast<size_t>(number)];
  }
  return at;
}

uint32_t Bodies::Number(std::string words) {
  return numbers_.try_emplace(std::move(words), static_cast<uint32_t>(numbers_.size()))
      .first->second;
}

std::optional<std::string> Bodies::WordsFor(const Source& source) const {
  const InstrId id = source.node.id;
  switch (opcode(source.node)) {
    case Opcode::kConstant:
      // `{...}` stands for what a text left out.
      if (LiteralAt(module_, id).find("...") != std::string_view::npos) return std::nullopt;
      break;
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      break;
    case Opcode::kRng:
    case Opcode::kMap:
      return std::nullopt;
    default:
      if (!IsByElement(opcode(source.node))) return std::nullopt;
  }
  if (!source.index.empty() || module_.shapes.is_tuple(shape(source.node))) return std::nullopt;
  std::string words;
  Append(words, static_cast<int64_t>(opcode(source.node)));
  Append(words, shape(source.node).index);
  for (const Attribute& attribute : module_.attributes_of(id)) {
    if (!AppendAttribute(module_, attribute, words)) return std::nullopt;
  }
  return words;
}

uint32_t Bodies::ValueOf(const Source& source) {
  // Post-order, without recursion: operands first.
  constexpr size_t kFarthest = 1000;  // values; more are not looked at
  std::vector<Source> stack = {source};
  uint32_t value = 0;
  size_t seen = 0;
  while (!stack.empty()) {
    const Source top = stack.back();
    if (top.leaf) {
      std::string words = "operand ";
      Append(words, module_.operands_of(user_)[top.leaf->operand].index);
      for (const int64_t number : top.leaf->index) Append(words, number);
      value = Number(std::move(words));
      stack.pop_back();
      continue;
    }
    const std::pair key(top.node, top.index);
    if (const auto known = values_.find(key); known != values_.end()) {
      value = known->second;
      stack.pop_back();
      continue;
    }
    std::optional<std::string> words = ++seen > kFarthest ? std::nullopt : WordsFor(top);
    if (!words) {
      std::string own = "node ";
      Append(own, top.node.frame);
      Append(own, top.node.id.index);
      for (const int64_t number : top.index) Append(own, number);
      value = values_[key] = Number(std::move(own));
      stack.pop_back();
      continue;
    }
    bool is_ready = true;
    *words += "of ";
    for (size_t k = 0; k < module_.operands_of(top.node.id).size(); ++k) {
      Source operand = Operand(top.node, k);
      const auto known =
          operand.leaf ? values_.end() : values_.find(std::pair(operand.node, operand.index));
      if (operand.leaf) {
        Append(*words, -1);
        Append(*words, module_.operands_of(user_)[operand.leaf->operand].index);
        for (const int64_t number : operand.leaf->index) Append(*words, number);
        *words += ", ";
      } else if (known != values_.end()) {
        Append(*words, known->second);
      } else {
        is_ready = false;
        stack.push_back(std::move(operand));
      }
    }
    if (!is_ready) continue;
    value = values_[key] = Number(*std::move(words));
    stack.pop_back();
  }
  return value;
}

std::optional<int64_t> Bodies::IntegerOf(const Source& source) const {
  if (source.leaf || opcode(source.node) != Opcode::kConstant) return std::nullopt;
  const std::string_view literal = LiteralAt(module_, source.node.id);
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(literal.data(), literal.data() + literal.size(), number);
  if (literal.empty() || error != std::errc() || end != literal.data() + literal.size())
    return std::nullopt;
  return number;
}

}  // namespace stowplan::check
