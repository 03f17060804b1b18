// SPDX-License-Identifier: Apache-2.0
#include "diff/places.h"

#include <charconv>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "diff/match.h"
#include "explain/partition.h"
#include "stowplan/hlo/opcode.h"

namespace stowplan::diff {

using explain::Op;
using explain::Picture;
using hlo::Opcode;
using report::ValueId;

namespace {

// "argument params" of params['w'][0]; all of a caller's argument is one place.
std::string ArgumentOf(std::string_view path) {
  const std::vector<std::string_view> parts = explain::ParameterParts(path);
  return parts.empty() ? std::string() : "argument " + std::string(parts[0]);
}

// "copy", "convert": of a fusion, what its result is.
std::string_view WordOf(const Picture& picture, const Op& op) {
  if (op.opcode == Opcode::kUnknown) return "instruction";
  if (op.opcode != Opcode::kFusion || op.instruction.is_none()) return hlo::Name(op.opcode);
  const hlo::Module& module = *picture.module;
  const auto called = module.called_by(op.instruction);
  if (called.empty() || module.computations[called[0]].root.is_none()) return hlo::Name(op.opcode);
  return hlo::Name(module.instructions[module.computations[called[0]].root].opcode);
}

std::string BestPlace(const Picture& picture, ValueId id) {
  const report::Value& value = picture.report->values[id];
  const Op& op = picture.op_of(id);
  if (op.opcode == Opcode::kParameter && !value.allocation.is_none()) {
    const std::string& path = picture.parameter_paths[value.allocation.index];
    // Without a name of its own it is "parameter 3".
    if (!path.empty() && !path.starts_with("parameter ")) return ArgumentOf(path);
    if (const auto number = picture.report->allocations[value.allocation].parameter)
      return "parameter " + std::to_string(*number);
  }
  const explain::ValueFact& fact = picture.fact(id);
  const std::string word(IsCopy(picture, id) ? "copy" : WordOf(picture, op));
  // What the compiler moves has the words of what it moves (explain/labels).
  if (!fact.frame.is_none()) {
    const std::string source = explain::SourceText(picture, picture.own_line(fact.frame));
    return IsCopy(picture, id) ? "copy of " + source : source;
  }
  if (fact.op_name.empty()) return word + " without source";
  // JAX calls a parameter by its path; an op_name begins with the function.
  if (fact.op_name.find('/') == std::string_view::npos)
    return word + " of " + ArgumentOf(fact.op_name);
  return IsCopy(picture, id) ? "copy of " + std::string(fact.op_name) : std::string(fact.op_name);
}

struct PlainShape {
  std::string_view type;
  std::vector<int64_t> dimensions;
  bool is_known = false;
};

PlainShape ParseShape(std::string_view text) {
  PlainShape shape;
  const size_t open = text.find('[');
  if (open == std::string_view::npos || text.starts_with('(')) return shape;
  const size_t close = text.find(']', open);
  if (close == std::string_view::npos) return shape;
  shape.type = text.substr(0, open);
  for (size_t at = open + 1; at < close;) {
    if (text.substr(at).starts_with("<=")) at += 2;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + close, number);
    if (error != std::errc() || number < 0) return shape;
    shape.dimensions.push_back(number);
    at = static_cast<size_t>(end - text.data()) + 1;  // behind the comma
  }
  shape.is_known = true;
  return shape;
}

std::optional<int64_t> ElementsOf(const PlainShape& shape) {
  return CheckedProduct(shape.dimensions);
}

}  // namespace

std::string PlaceOf(const Picture& picture, ValueId id, Group group) {
  const explain::ValueFact& fact = picture.fact(id);
  switch (group) {
    case Group::kSource:
      return fact.frame.is_none() ? "(no source)"
                                  : explain::SourceText(picture, picture.own_line(fact.frame));
    case Group::kOpName:
      return fact.op_name.empty() ? "(no op_name)" : std::string(fact.op_name);
    case Group::kKind:
      return std::string(explain::Name(fact.kind));
    case Group::kValue:
    case Group::kTerm:
      return explain::ValueName(*picture.report, id);
    case Group::kCause:
      break;
  }
  return BestPlace(picture, id);
}

ShapeChange ChangeOf(std::string_view before, std::string_view after) {
  ShapeChange change;
  const PlainShape a = ParseShape(before);
  const PlainShape b = ParseShape(after);
  if (!a.is_known || !b.is_known) return change;
  if (a.type != b.type) change.types = std::string(a.type) + " -> " + std::string(b.type);
  if (a.dimensions.size() == b.dimensions.size()) {
    for (size_t i = 0; i < a.dimensions.size() && change.from == change.to; ++i) {
      change.from = a.dimensions[i];
      change.to = b.dimensions[i];
    }
    if (change.from == change.to) change.from = change.to = 0;
  }
  std::set<std::pair<int64_t, int64_t>> factors;
  const auto add = [&](int64_t from, int64_t to) {
    const int64_t common = std::gcd(from, to);
    if (from != to) factors.emplace(to / common, from / common);
  };
  if (a.dimensions.size() == b.dimensions.size()) {
    for (size_t i = 0; i < a.dimensions.size(); ++i) add(a.dimensions[i], b.dimensions[i]);
  } else if (const auto from = ElementsOf(a), to = ElementsOf(b); from && to) {
    add(*from, *to);
  }
  for (const auto& [up, down] : factors) {
    if (!change.factors.empty()) change.factors += ", ";
    change.factors += std::to_string(up);
    if (down != 1) change.factors += "/" + std::to_string(down);
  }
  return change;
}

}  // namespace stowplan::diff
