// SPDX-License-Identifier: Apache-2.0
// Literals: the text between the parentheses of constant(...). Numbers stay as they are written;
// braces, blanks and comments are put the way XLA puts them.
#include "hlo/literal.h"

#include "base/checked_math.h"
#include "stowplan/hlo/shape.h"
#include "text/values.h"

namespace stowplan::text {
namespace {

using hlo::ShapeId;
using hlo::Text;

// A number or word, also nan(0x7f).
bool ParseScalar(Cursor& c, std::string& out) {
  c.Skip();
  const char* begin = c.p;
  while (IsClass(*c.p, kNameChar) || *c.p == '+') ++c.p;
  if (c.p == begin) return c.FailExpected("a value");
  if (c.peek() == '(') {
    while (IsClass(*c.p, kNameChar) || *c.p == '(') ++c.p;
    if (*c.p != ')') return c.FailExpected("')'");
    ++c.p;
  }
  out.append(begin, c.p);
  return true;
}

// One element: a scalar, or a complex number `(1, 2)`.
bool ParseElement(Cursor& c, std::string& out) {
  if (!c.Take('(')) return ParseScalar(c, out);
  out += '(';
  if (!ParseScalar(c, out) || !c.Expect(',', "in a complex number")) return false;
  out += ", ";
  if (!ParseScalar(c, out)) return false;
  out += ')';
  return c.Expect(')', "after a complex number");
}

// The braces of the literal flattened: all elements, and the nesting they were found at.
struct Elements {
  std::vector<std::string> list;
  size_t depth = 0;
};

bool ParseNested(Cursor& c, Elements& elements) {
  constexpr size_t kMaxNesting = 256;
  size_t depth = 0;
  while (true) {
    c.Skip();
    if (c.peek() == '{') {
      ++c.p;
      if (++depth > kMaxNesting) return c.Fail("a literal is nested too deep");
      elements.depth = std::max(elements.depth, depth);
      continue;
    }
    if (c.peek() == '}') {
      if (depth == 0) return c.FailExpected("a value");
      ++c.p;
      --depth;
    } else if (!ParseElement(c, elements.list.emplace_back())) {
      return false;
    }
    // Close what closes, then go on after a comma.
    while (depth != 0 && c.Take('}')) --depth;
    if (depth == 0) return true;
    // XLA does not insist on the comma between groups.
    if (!c.Take(',') && c.peek() != '{') return c.FailExpected("',' or '}' in a literal");
  }
}

// Kept as written, up to the parenthesis that closes the operands.
bool ParseTupleLiteral(Reader& reader, Text& text) {
  Cursor& c = reader.cursor;
  const char* begin = c.p;
  const char* last = begin;
  while (c.peek() != ')') {
    std::string_view part;
    if (!ParseBalanced(c, part)) return false;
    last = part.data() + part.size();
    // It ends at a comma, at the end of a line, or at a bracket that it did not open.
    if (c.peek() == ',') {
      last = ++c.p;
    } else if (!IsClass(c.peek(), kBlankChar) && c.peek() != ')') {
      return c.FailExpected("')' after the literal");
    }
    c.Skip();
  }
  if (last != begin) text = reader.builder.ToText({begin, static_cast<size_t>(last - begin)});
  return true;
}

// A bare number for an array: XLA's parser sets the first element to it and leaves the others zero.
// Like any other long literal, it prints as {...} beyond a few elements.
bool MakeFilled(const hlo::ShapeTable& shapes, ShapeId shape, const std::string& first,
                std::string& canonical) {
  const std::span<const int64_t> dims = shapes.dims(shape);
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count || *count == 0 || first.starts_with('(')) return false;
  if (*count > hlo::kMaxPrintedElements) {
    canonical = "{...}";
    return true;
  }
  const bool is_pred = shapes[shape].type == hlo::ElementType::kPred;
  const std::string_view shown = is_pred && first == "true"    ? "1"
                                 : is_pred && first == "false" ? "0"
                                                               : std::string_view(first);
  hlo::AppendNested(
      dims, [&](int64_t i, std::string& out) { out += i == 0 ? shown : std::string_view("0"); },
      canonical);
  return true;
}

// Whether the cursor is at `{...}`, the literal that was left out.
bool TakeElided(Cursor& c) {
  Cursor look = c;
  if (!look.Take('{') || !look.TakeMark("...") || !look.Take('}')) return false;
  c.p = look.p;
  return true;
}

}  // namespace

bool ParseLiteral(Reader& reader, ShapeId shape, Text& text) {
  Cursor& c = reader.cursor;
  c.Skip();
  const char* begin = c.p;
  const hlo::ShapeTable& shapes = reader.module().shapes;
  const bool may_be_scalar = shape.is_none() || shapes.dims(shape).empty();
  // A scalar word right up to the parenthesis needs no more thought.
  while (IsClass(*c.p, kNameChar)) ++c.p;
  if (may_be_scalar && c.p != begin && *c.p == ')') {
    text = reader.builder.ToText({begin, static_cast<size_t>(c.p - begin)});
    return true;
  }
  c.p = begin;
  if (TakeElided(c)) {
    text = Canonical(reader, begin, "{...}");
    return true;
  }
  if (shape.is_none() || !hlo::IsArray(shapes[shape].type)) {
    return ParseTupleLiteral(reader, text);
  }
  Elements elements;
  if (!ParseNested(c, elements)) return false;
  std::string canonical;
  const std::span<const int64_t> dims = shapes.dims(shape);
  if (elements.depth == 0 && !dims.empty() &&
      MakeFilled(shapes, shape, elements.list[0], canonical)) {
    text = Canonical(reader, begin, canonical);
    return true;
  }
  const std::optional<int64_t> count = CheckedProduct(dims);
  // Without elements, the innermost braces have nothing to show.
  const bool fits = count && (elements.depth == dims.size() || *count == 0);
  if (!fits || *count != static_cast<int64_t>(elements.list.size())) {
    return c.FailAt(begin, static_cast<size_t>(c.p - begin),
                    "the literal has " + std::to_string(elements.list.size()) + " elements in " +
                        std::to_string(elements.depth) +
                        " levels of braces, which is not its shape " +
                        hlo::ToString(shapes, shape, {.layouts = false}));
  }
  if (*count == 0 && hlo::HasTooManyRows(dims)) {
    text = Canonical(reader, begin, "{...}");
    return true;
  }
  hlo::AppendNested(
      dims, [&](int64_t i, std::string& out) { out += elements.list[static_cast<size_t>(i)]; },
      canonical);
  text = Canonical(reader, begin, canonical);
  return true;
}

}  // namespace stowplan::text
