// SPDX-License-Identifier: Apache-2.0
// Pieces of text that the pages of `stowplan report` are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/summary.h"
#include "stowplan/report/report.h"

namespace stowplan::page {

// Under the head of a page.
inline constexpr std::string_view kOwnPlan = "  the plan is Stowplan's, made by XLA's rules\n";

// Pages are at most this wide where names allow it.
inline constexpr size_t kPageWidth = 100;

// Columns of text, each as wide as its widest cell, two blanks apart.
class TextTable {
 public:
  enum Align { kLeft, kRight };
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void Add(std::vector<std::string> cells);
  // A line that is not in columns.
  void AddLine(std::string line);
  void Append(std::string& out) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;  // a row with one cell too many is a line
};

// How many columns of a terminal a text takes, more or less: one for each character of UTF-8.
size_t TextWidth(std::string_view text);

// Names come from the input and may hold anything: no byte of them shall command a terminal.
std::string Printable(std::string_view text);
// At most `width` columns; the middle is left out where it is too long.
std::string Shortened(std::string_view text, size_t width);

// The same for op_names, whose operation stands at the end, perhaps with its parameters in
// brackets, and for paths.
std::string ShortenedOpName(std::string_view text, size_t width);
std::string ShortenedPath(std::string_view text, size_t width);
// And for shapes, whose dimensions stand before their layout.
std::string ShortenedShape(std::string_view text, size_t width);

// 64.3%; "<0.1%" for what is little but not nothing.
std::string Percent(int64_t part, int64_t whole);
// A bar of at most `width` columns.
std::string Bar(int64_t part, int64_t whole, size_t width);

// S(0) HBM
std::string SpaceText(report::Backend backend, int64_t color);
// fusion.3 {0}
std::string ValueText(const report::Report& report, const report::Value& value);
// parameter 3 {1}, aliased
std::string AllocationText(const report::Report& report, const report::Allocation& allocation);

// Sizes of the command line: 4096, 512K, 16GiB, 1.5G, 14 gib; units are powers of 1024.
std::optional<int64_t> ParseBytes(std::string_view text);

}  // namespace stowplan::page
