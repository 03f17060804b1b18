// SPDX-License-Identifier: Apache-2.0
// Building blocks for text pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"
#include "stowplan/report/report.h"

namespace stowplan::page {

// The line under the head of a page.
inline constexpr std::string_view kOwnPlan = "  the plan is Stowplan's, made by XLA's rules\n";

// Pages are at most this wide, unless a long name makes that impossible.
inline constexpr size_t kPageWidth = 100;

// Columns of text, each as wide as its widest cell, two blanks apart.
class TextTable {
 public:
  enum Align { kLeft, kRight };
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void Add(std::vector<std::string> cells);
  // Adds a line that is not in columns.
  void AddLine(std::string line);
  void Append(std::string& out) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;  // a row with one extra cell is a line
};

// How many columns of a terminal a text takes, roughly: one per UTF-8 character.
size_t TextWidth(std::string_view text);

// Names come from the input and may contain anything; this removes what could control a terminal.
std::string Printable(std::string_view text);
// At most `width` columns; the middle of a longer text is left out.
std::string Shortened(std::string_view text, size_t width);

// The same for op_names, which end with the operation and possibly its parameters in brackets, and
// for paths.
std::string ShortenedOpName(std::string_view text, size_t width);
std::string ShortenedPath(std::string_view text, size_t width);
// And for frames of a stack, a.py:1 f > b.py:2 g: the file and line of the last one stay.
std::string ShortenedStack(std::string_view text, size_t width);
// And for shapes, whose dimensions come before their layout.
std::string ShortenedShape(std::string_view text, size_t width);

// 64.3%; "<0.1%" for a small share that is not zero.
std::string Percent(int64_t part, int64_t whole);
// A bar of at most `width` columns.
std::string Bar(int64_t part, int64_t whole, size_t width);

// S(0) HBM
std::string SpaceText(report::Backend backend, int64_t color);
// fusion.3 {0}
std::string ValueText(const report::Report& report, const report::Value& value);
// parameter 3 {1}, aliased
std::string AllocationText(const report::Report& report, const report::Allocation& allocation);

// Parses a size from the command line: 4096, 512K, 16GiB, 1.5G, 14 gib; units are powers of 1024.
std::optional<int64_t> ParseBytes(std::string_view text);

}  // namespace stowplan::page
