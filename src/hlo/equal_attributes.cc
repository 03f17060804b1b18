// SPDX-License-Identifier: Apache-2.0
// Attributes and metadata of two instructions.
#include <algorithm>
#include <string>

#include "base/json_equal.h"
#include "hlo/equal_comparison.h"

namespace stowplan::hlo {
namespace {

template <class T, class Same>
bool SameRows(const std::vector<T>& x, Range x_rows, const std::vector<T>& y, Range y_rows,
              Same same) {
  return std::ranges::equal(Module::Rows(x, x_rows), Module::Rows(y, y_rows), same);
}

constexpr std::string_view kElided = "{...}";

// The literal of a text may be left out.
bool SameLiteral(std::string_view x, std::string_view y) {
  return x == y || x.ends_with(kElided) || y.ends_with(kElided);
}

bool SameValue(const Comparison& c, const Attribute& x, const Attribute& y) {
  const auto same_text = [&](Text p, Text q) { return c.Same(p, q); };
  switch (KindOf(x.key)) {
    case ValueKind::kInt:
    case ValueKind::kBool:
      return x.number() == y.number();
    case ValueKind::kInts:
    case ValueKind::kBools:
    case ValueKind::kIntLists:
    case ValueKind::kWindow:
    case ValueKind::kSlices:
    case ValueKind::kPadding:
    case ValueKind::kAliasing:
      return SameRows(c.a.ints, x.rows(), c.b.ints, y.rows(), std::equal_to<>());
    case ValueKind::kWords:
      return SameRows(c.a.texts, x.rows(), c.b.texts, y.rows(), same_text);
    case ValueKind::kFrontendAttributes: {
      // Values that are JSON may have their keys in another order, too.
      const auto same_json = [&](Text p, Text q) { return SameJson(c.a.view(p), c.b.view(q)); };
      return SameRows(c.a.texts, x.rows(), c.b.texts, y.rows(), same_json);
    }
    // Called computations are compared by what the instruction calls.
    case ValueKind::kComputation:
    case ValueKind::kComputations:
      return true;
    case ValueKind::kInstructions: {
      const auto same = [&](InstrId p, InstrId q) { return c.Same(p, q); };
      return SameRows(c.a.instruction_pool, x.rows(), c.b.instruction_pool, y.rows(), same);
    }
    case ValueKind::kShape:
      return c.Same(ShapeId(static_cast<size_t>(x.number())),
                    ShapeId(static_cast<size_t>(y.number())));
    case ValueKind::kShapes: {
      const auto same = [&](ShapeId p, ShapeId q) { return c.Same(p, q); };
      return SameRows(c.a.shape_pool, x.rows(), c.b.shape_pool, y.rows(), same);
    }
    case ValueKind::kConfig:
      return SameJson(c.a.view(x.text()), c.b.view(y.text()));
    case ValueKind::kLiteral:
    case ValueKind::kLiteralAttribute:
      return SameLiteral(c.a.view(x.text()), c.b.view(y.text()));
    case ValueKind::kWord:
    case ValueKind::kString:
    case ValueKind::kDeviceGroups:
    case ValueKind::kSharding:
    case ValueKind::kDomain:
    case ValueKind::kOrigin:
    case ValueKind::kTree:
    case ValueKind::kVerbatim:
      return c.Same(x.text(), y.text());
  }
  return false;
}

// A value in words, for a message.
std::string DescribeAttribute(const Module& m, const Attribute& attribute) {
  constexpr size_t kShown = 200;
  std::string out;
  switch (KindOf(attribute.key)) {
    case ValueKind::kInt:
    case ValueKind::kBool:
      return std::to_string(attribute.number());
    case ValueKind::kInts:
    case ValueKind::kBools:
    case ValueKind::kIntLists:
    case ValueKind::kWindow:
    case ValueKind::kSlices:
    case ValueKind::kPadding:
    case ValueKind::kAliasing:
      for (const int64_t n : Module::Rows(m.ints, attribute.rows()))
        out += (out.empty() ? "" : ",") + std::to_string(n);
      break;
    case ValueKind::kWords:
    case ValueKind::kFrontendAttributes:
      for (const Text text : Module::Rows(m.texts, attribute.rows())) {
        out += (out.empty() ? "" : ",") + std::string(m.view(text));
      }
      break;
    case ValueKind::kInstructions:
      for (const InstrId id : Module::Rows(m.instruction_pool, attribute.rows())) {
        out += (out.empty() ? "" : ",") + std::string(m.name(id));
      }
      break;
    case ValueKind::kShape:
      out = ToString(m.shapes, ShapeId(static_cast<size_t>(attribute.number())));
      break;
    case ValueKind::kShapes:
      for (const ShapeId id : Module::Rows(m.shape_pool, attribute.rows())) {
        out += (out.empty() ? "" : ", ") + ToString(m.shapes, id);
      }
      break;
    case ValueKind::kComputation:
    case ValueKind::kComputations:
      return "...";
    default:
      out = std::string(m.view(attribute.text()));
      break;
  }
  if (out.size() > kShown) out = out.substr(0, kShown) + "...";
  return out;
}

// Whether the attribute takes part: old texts repeat at the end of an async operation what its
// beginning says.
bool IsCompared(Opcode opcode, AttributeKey key) {
  if (opcode != Opcode::kAsyncUpdate && opcode != Opcode::kAsyncDone) return true;
  return key != AttributeKey::kCalls && key != AttributeKey::kAsyncExecutionThread &&
         key != AttributeKey::kAsyncGroupId;
}

// The next attribute from `i` on that takes part.
const Attribute* Next(const Module& m, InstrId id, size_t& i) {
  const std::span<const Attribute> attributes = m.attributes_of(id);
  for (; i < attributes.size(); ++i) {
    if (IsCompared(m.instructions[id].opcode, attributes[i].key)) return &attributes[i];
  }
  return nullptr;
}

std::string KeyText(const Module& m, const Attribute& attribute) {
  if (attribute.key == AttributeKey::kUnknown) return std::string(m.view(attribute.text()));
  if (attribute.key == AttributeKey::kParameterNumber) return "parameter number";
  return attribute.key == AttributeKey::kLiteral ? "literal" : std::string(Name(attribute.key));
}

}  // namespace

void CompareAttributes(Comparison& c, InstrId x, InstrId y) {
  // Both lists are in print order.
  size_t i = 0;
  size_t j = 0;
  for (;;) {
    const Attribute* const p = Next(c.a, x, i);
    const Attribute* const q = Next(c.b, y, j);
    if (p == nullptr && q == nullptr) return;
    if (p != nullptr && q != nullptr && p->key == q->key) {
      if (!SameValue(c, *p, *q)) {
        c.ReportAt(x, KeyText(c.a, *p) + " differs: " + DescribeAttribute(c.a, *p) + " and " +
                          DescribeAttribute(c.b, *q));
      }
      ++i;
      ++j;
      continue;
    }
    const Opcode opcode = c.a.instructions[x].opcode;
    if (q == nullptr || (p != nullptr && PrintRank(opcode, p->key) < PrintRank(opcode, q->key))) {
      c.ReportAt(x, "only the first has " + KeyText(c.a, *p) + "=" + DescribeAttribute(c.a, *p));
      ++i;
    } else {
      c.ReportAt(x, "only the second has " + KeyText(c.b, *q) + "=" + DescribeAttribute(c.b, *q));
      ++j;
    }
  }
}

void CompareMetadata(Comparison& c, InstrId x, InstrId y) {
  static constexpr Metadata kNone;
  const Metadata* const p = c.a.metadata_of(x);
  const Metadata* const q = c.b.metadata_of(y);
  if (p == nullptr && q == nullptr) return;
  const Metadata& m = p == nullptr ? kNone : *p;
  const Metadata& n = q == nullptr ? kNone : *q;
  const auto texts = [&](const char* what, Text s, Text t) {
    if (!c.Same(s, t)) {
      c.ReportAt(x, std::string(what) + " differs: " + std::string(c.a.view(s)) + " and " +
                        std::string(c.b.view(t)));
    }
  };
  const auto numbers = [&](const char* what, int32_t s, int32_t t) {
    if (s != t)
      c.ReportAt(
          x, std::string(what) + " differs: " + std::to_string(s) + " and " + std::to_string(t));
  };
  texts("op_type", m.op_type, n.op_type);
  texts("op_name", m.op_name, n.op_name);
  texts("source_file", m.source_file, n.source_file);
  numbers("source_line", m.source_line, n.source_line);
  if (c.options.metadata_ends) {
    numbers("source_end_line", m.source_end_line, n.source_end_line);
    numbers("source_column", m.source_column, n.source_column);
    numbers("source_end_column", m.source_end_column, n.source_end_column);
  }
  if (!SameRows(c.a.ints, m.profile_types, c.b.ints, n.profile_types, std::equal_to<>())) {
    c.ReportAt(x, "profile_type differs");
  }
  texts("deduplicated_name", m.deduplicated_name, n.deduplicated_name);
  texts("scheduling_name", m.scheduling_name, n.scheduling_name);
  if (c.options.stack_frames) numbers("stack_frame_id", m.stack_frame, n.stack_frame);
  texts("metadata_payload", m.payload, n.payload);
}

}  // namespace stowplan::hlo
