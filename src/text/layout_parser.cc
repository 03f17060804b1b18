// SPDX-License-Identifier: Apache-2.0
// Layouts: {1,0:T(8,128)(2,1)S(1)}.
#include "text/shape_parser.h"

namespace stowplan::text {

using hlo::ElementType;
using hlo::Layout;

namespace {

bool ParseIntegers(Cursor& cursor, char close, std::vector<int64_t>& numbers) {
  while (true) {
    int64_t n = 0;
    if (cursor.Take('*')) {
      n = hlo::kCombineDimension;
    } else if (!cursor.Integer(n)) {
      return cursor.FailExpected("a number");
    }
    numbers.push_back(n);
    if (cursor.Take(close)) return true;
    if (!cursor.Expect(',', "between numbers")) return false;
  }
}

bool ParseCount(Cursor& cursor, int64_t& n) {
  if (!cursor.Expect('(', "in a layout")) return false;
  if (!cursor.Integer(n)) return cursor.FailExpected("a number");
  if (n < 0) return cursor.Fail("a number in a layout is negative");
  return cursor.Expect(')', "in a layout");
}

bool ParseType(Cursor& cursor, ElementType& type) {
  if (!cursor.Expect('(', "in a layout")) return false;
  cursor.Skip();
  const char* begin = cursor.p;
  const std::string_view name = cursor.NameHere();
  const std::optional<ElementType> found = hlo::FindElementType(name);
  if (!found && name != "invalid") {
    return cursor.FailAt(begin, name.size(), "unknown element type '" + std::string(name) + "'");
  }
  type = found.value_or(ElementType::kInvalid);
  return cursor.Expect(')', "in a layout");
}

bool ParseTiles(Cursor& cursor, Layout& layout) {
  cursor.Skip();
  if (cursor.peek() != '(') return cursor.FailExpected("'(' of a tile");
  while (cursor.Take('(')) {
    if (!ParseIntegers(cursor, ')', layout.tiles.emplace_back())) return false;
    for (const int64_t n : layout.tiles.back()) {
      if (n <= 0 && n != hlo::kCombineDimension)
        return cursor.Fail("a tile's size is not positive");
    }
  }
  return true;
}

bool ParseSplits(Cursor& cursor, Layout& layout) {
  cursor.Skip();
  if (cursor.peek() != '(') return cursor.FailExpected("'(' of a split");
  while (cursor.Take('(')) {
    Layout::Split& split = layout.splits.emplace_back();
    if (!cursor.Integer(split.dimension)) return cursor.FailExpected("a dimension");
    if (!cursor.Expect(':', "in a split")) return false;
    if (!ParseIntegers(cursor, ')', split.indices)) return false;
  }
  return true;
}

bool ParseLevels(Cursor& cursor, Layout& layout) {
  if (!cursor.Expect('(', "in a layout")) return false;
  while (!cursor.Take(')')) {
    cursor.Skip();
    const char c = cursor.peek();
    if (c == '\0' || std::string_view("DCSH?,+~").find(c) == std::string_view::npos) {
      return cursor.FailExpected("a dimension's level type");
    }
    layout.dim_level_types += c;
    ++cursor.p;
  }
  // All dense says nothing.
  if (layout.dim_level_types.find_first_not_of("D,") == std::string::npos)
    layout.dim_level_types.clear();
  return true;
}

}  // namespace

bool ShapeParser::ParseLayout(Cursor& cursor, Layout& layout, bool allow_physical) {
  ++cursor.p;  // {
  cursor.Skip();
  while (IsClass(cursor.peek(), kDigitChar)) {
    int64_t n = 0;
    if (!cursor.Integer(n)) return false;
    layout.minor_to_major.push_back(n);
    if (!cursor.Take(',')) break;
    cursor.Skip();
  }
  std::vector<bool> seen(layout.minor_to_major.size(), false);
  for (const int64_t n : layout.minor_to_major) {
    if (n < 0 || n >= static_cast<int64_t>(seen.size()) || seen[static_cast<size_t>(n)]) {
      return cursor.Fail("the layout's minor-to-major order is not a permutation");
    }
    seen[static_cast<size_t>(n)] = true;
  }
  if (cursor.Take(':')) {
    while (true) {
      cursor.Skip();
      if (cursor.peek() == '}') break;
      if (!ParseLayoutPart(cursor, layout, allow_physical)) return false;
    }
  }
  return cursor.Expect('}', "at the end of the layout");
}

bool ShapeParser::ParseLayoutPart(Cursor& cursor, Layout& layout, bool allow_physical) {
  const char mark = cursor.peek();
  const char* begin = cursor.p;
  ++cursor.p;
  switch (mark) {
    case 'D':
      return ParseLevels(cursor, layout);
    case 'T':
      return ParseTiles(cursor, layout);
    case 'L':
      return ParseCount(cursor, layout.tail_padding);
    case '#':
      return ParseType(cursor, layout.index_type);
    case '*':
      return ParseType(cursor, layout.pointer_type);
    case 'E':
      return ParseCount(cursor, layout.element_bits);
    case 'S':
      if (cursor.peek() == 'C') {
        ++cursor.p;
        return ParseSplits(cursor, layout);
      }
      return ParseCount(cursor, layout.memory_space);
    case 'M':
      return ParseCount(cursor, layout.dynamic_prefix_bytes);
    case 'P':
      if (!allow_physical) break;
      if (!cursor.Expect('(', "in a layout")) return false;
      cursor.Skip();
      layout.physical_shape = ParseLeaf(cursor, /*allow_physical=*/false);
      return !layout.physical_shape.is_none() && cursor.Expect(')', "in a layout");
    default:
      break;
  }
  cursor.p = begin;
  return cursor.FailExpected("a part of a layout: D T L # * E S SC P or M");
}

}  // namespace stowplan::text
