// SPDX-License-Identifier: Apache-2.0
#include "text/window.h"

#include <array>

namespace stowplan::text {
namespace {

// Numbers joined by 'x' ("3x3"), or groups joined by 'x' of numbers joined by '_' ("1_1x0_0").
bool ParseJoined(Cursor& c, std::vector<std::vector<int64_t>>& groups) {
  c.Skip();
  while (true) {
    std::vector<int64_t>& group = groups.emplace_back();
    do {
      int64_t n = 0;
      if (!c.Integer(n)) return c.FailExpected("a number");
      group.push_back(n);
      if (c.peek() != '_') break;
      ++c.p;
    } while (true);
    if (c.peek() != 'x') return true;
    ++c.p;
  }
}

// A { 1, 0 } index: its length, then its numbers.
bool ParseIndex(Cursor& c, std::vector<int64_t>& ints) {
  if (!c.Expect('{', "of an index")) return false;
  const size_t length = ints.size();
  ints.push_back(0);
  while (!c.Take('}')) {
    if (ints.size() != length + 1 && !c.Expect(',', "in an index")) return false;
    int64_t n = 0;
    if (!c.Integer(n)) return c.FailExpected("a number");
    ints.push_back(n);
  }
  ints[length] = static_cast<int64_t>(ints.size() - length - 1);
  return true;
}

}  // namespace

bool ParseWindow(Cursor& c, std::vector<int64_t>& ints) {
  struct Part {
    std::string_view name;
    size_t at;     // of its first number among the seven of a dimension
    size_t width;  // numbers a dimension
  };
  static constexpr std::array<Part, 6> kParts = {{{"size", 0, 1},
                                                  {"stride", 1, 1},
                                                  {"pad", 2, 2},
                                                  {"rhs_dilate", 4, 1},
                                                  {"lhs_dilate", 5, 1},
                                                  {"rhs_reversal", 6, 1}}};
  constexpr std::array<int64_t, 7> kDefaults = {1, 1, 0, 0, 1, 1, 0};
  if (!c.Expect('{', "of a window")) return false;
  std::vector<std::vector<int64_t>> groups;
  while (!c.Take('}')) {
    c.Skip();
    const char* begin = c.p;
    const std::string_view name = c.NameHere();
    const Part* part = nullptr;
    for (const Part& p : kParts) {
      if (p.name == name) part = &p;
    }
    if (part == nullptr) {
      c.p = begin;
      return c.FailExpected(
          "a part of a window: size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal");
    }
    groups.clear();
    if (!c.Expect('=', "in a window") || !ParseJoined(c, groups)) return false;
    if (ints.empty()) {
      for (size_t d = 0; d < groups.size(); ++d)
        ints.insert(ints.end(), kDefaults.begin(), kDefaults.end());
    }
    // A part that speaks of the first dimensions only leaves the others at their defaults.
    if (ints.size() < groups.size() * 7) {
      return c.FailAt(begin, name.size(),
                      "the parts of this window have different numbers of dimensions");
    }
    for (size_t d = 0; d < groups.size(); ++d) {
      if (groups[d].size() != part->width)
        return c.FailAt(begin, name.size(), "wrong form of a window's part");
      for (size_t i = 0; i < part->width; ++i) ints[d * 7 + part->at + i] = groups[d][i];
    }
  }
  return true;
}

bool ParseSlices(Cursor& c, std::vector<int64_t>& ints) {
  if (!c.Expect('{', "of a slice")) return false;
  while (!c.Take('}')) {
    if (!ints.empty() && !c.Expect(',', "between slices")) return false;
    int64_t start = 0;
    int64_t limit = 0;
    int64_t stride = 1;
    if (!c.Expect('[', "of a slice")) return false;
    if (!c.Integer(start) || !c.Expect(':', "in a slice") || !c.Integer(limit))
      return c.FailExpected("a slice [a:b]");
    if (c.Take(':') && !c.Integer(stride)) return c.FailExpected("a stride");
    if (!c.Expect(']', "of a slice")) return false;
    ints.insert(ints.end(), {start, limit, stride});
  }
  return true;
}

bool ParsePadding(Cursor& c, std::vector<int64_t>& ints) {
  std::vector<std::vector<int64_t>> groups;
  const char* begin = c.p;
  if (!ParseJoined(c, groups)) return false;
  for (std::vector<int64_t>& group : groups) {
    if (group.size() == 2) group.push_back(0);
    if (group.size() != 3)
      return c.FailAt(begin, static_cast<size_t>(c.p - begin),
                      "a padding is low_high or low_high_interior in each dimension");
    ints.insert(ints.end(), group.begin(), group.end());
  }
  return true;
}

bool ParseAliasing(Cursor& c, std::vector<int64_t>& ints) {
  if (!c.Expect('{', "of an aliasing")) return false;
  while (!c.Take('}')) {
    if (!ints.empty() && !c.Expect(',', "between aliasings")) return false;
    if (!ParseIndex(c, ints) || !c.Expect(':', "in an aliasing") ||
        !c.Expect('(', "in an aliasing"))
      return false;
    int64_t operand = 0;
    if (!c.Integer(operand)) return c.FailExpected("an operand's number");
    ints.push_back(operand);
    if (!c.Expect(',', "in an aliasing") || !ParseIndex(c, ints) ||
        !c.Expect(')', "in an aliasing"))
      return false;
  }
  return true;
}

}  // namespace stowplan::text
