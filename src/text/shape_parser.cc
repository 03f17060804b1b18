// SPDX-License-Identifier: Apache-2.0
#include "text/shape_parser.h"

#include <array>
#include <memory>

#include "base/hash.h"

namespace stowplan::text {

using hlo::ElementType;
using hlo::Layout;
using hlo::LayoutId;
using hlo::ShapeId;
using hlo::ShapeTable;

namespace {

// Arrays have few dimensions; more than this is an attack or a mistake.
constexpr size_t kMaxRank = 256;

// Whether a `{` at the cursor opens a layout and not, say, the body of a computation.
bool LooksLikeLayout(Cursor cursor) {
  ++cursor.p;
  cursor.Skip();
  return IsClass(cursor.peek(), kDigitChar) || cursor.peek() == ':' || cursor.peek() == '}';
}

// Moves over a group of brackets of any kind that opens at `p`; nullptr when it never closes.
const char* SkipGroup(const char* p, const char* end) {
  int64_t depth = 0;
  for (; p < end; ++p) {
    switch (*p) {
      case '(':
      case '[':
      case '{':
        ++depth;
        break;
      case ')':
      case ']':
      case '}':
        if (--depth == 0) return p + 1;
        break;
      case '"':
      case '=':
        return nullptr;  // not inside a shape, except in comments, which the careful way handles
      case '/':
        if (p[1] == '*') {
          p += 2;
          while (p < end && !(p[0] == '*' && p[1] == '/')) ++p;
          ++p;
          break;
        }
        return nullptr;
      default:
        break;
    }
  }
  return nullptr;
}

// The end of the shape that begins at `p`, when it is written without blanks outside brackets;
// nullptr otherwise.
const char* QuickEnd(const char* p, const char* end) {
  if (*p == '(') return SkipGroup(p, end);
  while (IsClass(*p, kNameChar)) ++p;
  if (*p != '[') return nullptr;
  while (*p != ']') {
    if (*p == '\0' || *p == '\n') return nullptr;
    ++p;
  }
  ++p;
  if (*p == '{') return SkipGroup(p, end);
  // A layout may stand apart.
  const char* next = p;
  while (IsClass(*next, kBlankChar)) ++next;
  return *next == '{' || *next == '/' ? nullptr : p;
}

}  // namespace

bool ShapeParser::LooksLikeShape(const Cursor& cursor) {
  const char* q = cursor.p;
  if (*q == '(') return true;
  if (!IsClass(*q, kFirstChar)) return false;
  while (IsClass(*q, kNameChar)) ++q;
  const std::string_view word(cursor.p, static_cast<size_t>(q - cursor.p));
  if (*q == '[') return true;
  if (word == "b" && *q == '(') return true;
  // f32 [2]
  if (!hlo::FindElementType(word)) return false;
  Cursor next{q, cursor.end, cursor.errors};
  next.Skip();
  return next.peek() == '[';
}

ShapeId ShapeParser::Parse(Cursor& cursor) {
  cursor.Skip();
  const char* begin = cursor.p;
  const char* quick = QuickEnd(begin, cursor.end);
  if (quick == nullptr) return ParseNew(cursor);
  const std::string_view text(begin, static_cast<size_t>(quick - begin));
  const auto hash = static_cast<uint32_t>(HashBytes(text));
  for (size_t i = hash & (slots_.size() - 1); slots_[i].text != nullptr;
       i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && slot.size == text.size() &&
        std::memcmp(slot.text, begin, text.size()) == 0) {
      cursor.p = quick;
      return slot.id;
    }
  }
  const ShapeId id = ParseNew(cursor);
  if (!id.is_none() && cursor.p == quick) Remember(text, hash, id);
  return id;
}

ShapeId ShapeParser::ParseBeforeLiteral(Cursor& cursor) {
  needs_attached_layout_ = true;
  const ShapeId id = ParseNew(cursor);
  needs_attached_layout_ = false;
  return id;
}

void ShapeParser::Remember(std::string_view text, uint32_t hash, ShapeId id) {
  if (++count_ * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.text == nullptr) continue;
      size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].text != nullptr) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }
  size_t i = hash & (slots_.size() - 1);
  while (slots_[i].text != nullptr) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {text.data(), static_cast<uint32_t>(text.size()), hash, id};
}

ShapeId ShapeParser::ParseNew(Cursor& cursor) {
  struct Open {
    size_t first;  // of its elements in `elements`
    bool is_buffer;
    bool has_comment;
  };
  std::vector<Open> open;
  std::vector<ShapeId> elements;
  const auto close = [&] {
    const Open top = open.back();
    open.pop_back();
    const std::span<const ShapeId> parts = std::span<const ShapeId>(elements).subspan(top.first);
    if (parts.size() > 5) (top.has_comment ? saw_index_comment_ : saw_no_index_comment_) = true;
    if (top.is_buffer && parts.size() != 1) {
      cursor.Fail("a buffer b(...) holds exactly one shape");
      return ShapeId();
    }
    const ShapeId id = top.is_buffer ? shapes_.AddBuffer(parts[0]) : shapes_.AddTuple(parts);
    elements.resize(top.first);
    return id;
  };
  while (true) {
    cursor.Skip();
    ShapeId id;
    const bool is_buffer = cursor.peek() == 'b' && cursor.p[1] == '(';
    if (cursor.peek() == '(' || is_buffer) {
      if (open.size() >= static_cast<size_t>(ShapeTable::kMaxDepth)) {
        cursor.Fail("tuples are nested more than " + std::to_string(ShapeTable::kMaxDepth) +
                    " deep");
        return {};
      }
      cursor.p += is_buffer ? 2 : 1;
      open.push_back({elements.size(), is_buffer, false});
      if (!cursor.Take(')')) continue;
      id = close();
    } else {
      id = ParseLeaf(cursor, /*allow_physical=*/true);
    }
    // A shape is complete: hand it to the tuple around it, and close what closes here.
    while (true) {
      if (id.is_none() || open.empty()) return id;
      elements.push_back(id);
      if (cursor.Take(',')) {
        if (cursor.SkipSeesIndex()) open.back().has_comment = true;
        break;
      }
      if (!cursor.Expect(')', "or ',' in a tuple shape")) return {};
      id = close();
    }
  }
}

ShapeId ShapeParser::ParseLeaf(Cursor& cursor, bool allow_physical) {
  const char* begin = cursor.p;
  const std::string_view name = cursor.NameHere();
  const std::optional<ElementType> type = hlo::FindElementType(name);
  if (!type || *type == ElementType::kTuple || *type == ElementType::kBuffer) {
    cursor.p = begin;
    if (name.empty()) {
      cursor.FailExpected("a shape");
    } else {
      cursor.FailAt(begin, name.size(), "unknown element type '" + std::string(name) + "'");
    }
    return {};
  }
  if (!cursor.Expect('[', "after the element type") || !ParseDims(cursor)) return {};
  if (!hlo::IsArray(*type)) {
    if (!dims_.empty()) {
      cursor.FailAt(begin, name.size(), std::string(name) + " has no dimensions");
      return {};
    }
    // Some versions wrote an empty layout after tokens.
    if (cursor.peek() == '{' && cursor.p[1] == '}') cursor.p += 2;
    return shapes_.AddOther(*type);
  }
  LayoutId layout_id;
  const char* behind = cursor.p;
  if (!needs_attached_layout_) cursor.Skip();
  if (cursor.peek() == '{' && LooksLikeLayout(cursor)) {
    // Dimensions are read: a physical shape inside the layout may use the same scratch space.
    const std::vector<int64_t> dims = dims_;
    const std::vector<uint8_t> dynamic = dynamic_;
    Layout layout;
    if (!ParseLayout(cursor, layout, allow_physical)) return {};
    if (layout.minor_to_major.size() != dims.size()) {
      cursor.FailAt(begin, static_cast<size_t>(cursor.p - begin),
                    "the layout orders " + std::to_string(layout.minor_to_major.size()) +
                        " dimensions, the shape has " + std::to_string(dims.size()));
      return {};
    }
    layout_id = shapes_.AddLayout(layout);
    dims_ = dims;
    dynamic_ = dynamic;
  } else {
    cursor.p = behind;
  }
  std::array<bool, kMaxRank> dynamic{};
  bool any = false;
  for (size_t i = 0; i < dims_.size(); ++i) any = (dynamic[i] = dynamic_[i] != 0) || any;
  return shapes_.AddArray(*type, dims_, {dynamic.data(), any ? dims_.size() : 0}, layout_id);
}

bool ShapeParser::ParseDims(Cursor& cursor) {
  dims_.clear();
  dynamic_.clear();
  if (cursor.Take(']')) return true;
  while (true) {
    int64_t dim = 0;
    bool is_dynamic = false;
    if (cursor.TakeMark("<=")) {
      is_dynamic = true;
      if (!cursor.Integer(dim)) return cursor.FailExpected("the bound of a dimension");
    } else if (cursor.Take('?')) {
      is_dynamic = true;
      dim = hlo::kUnboundedDimension;
    } else if (!cursor.Integer(dim)) {
      return cursor.FailExpected("a dimension");
    }
    if (dim < 0 && dim != hlo::kUnboundedDimension) return cursor.Fail("a dimension is negative");
    if (dims_.size() == kMaxRank) {
      return cursor.Fail("more than " + std::to_string(kMaxRank) + " dimensions");
    }
    dims_.push_back(dim);
    dynamic_.push_back(is_dynamic ? 1 : 0);
    if (cursor.Take(']')) return true;
    if (!cursor.Expect(',', "or ']' in the dimensions")) return false;
  }
}

std::optional<ShapeId> ParseShapeText(std::string_view text, ShapeTable& shapes) {
  const std::shared_ptr<const Source> source = Source::FromBytes("", text);
  ErrorList errors(*source);
  Cursor cursor{source->begin(), source->end(), &errors};
  // Remembered texts would outlive the source: the parser is used once.
  const ShapeId id = ShapeParser(shapes).Parse(cursor);
  cursor.Skip();
  if (id.is_none() || !cursor.at_end()) return std::nullopt;
  return id;
}

}  // namespace stowplan::text
