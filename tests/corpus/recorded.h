// SPDX-License-Identifier: Apache-2.0
// Counts over the corpus, and what they must be.
//
// Everything that is counted here is deterministic. So counts are compared for equality: one that
// changes, in whichever direction, is a change that somebody must have meant, and records.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan {

using CountRow = std::vector<int64_t>;
using CountRows = std::map<std::string, CountRow>;

inline CountRow& operator+=(CountRow& row, const CountRow& other) {
  row.resize(std::max(row.size(), other.size()));
  for (size_t i = 0; i < other.size(); ++i) row[i] += other[i];
  return row;
}

// As it is written in a test, so that a change is recorded by copying the lines that failed.
inline std::string ToText(const std::string& name, const CountRow& row) {
  std::string text = "{\"" + name + "\", {";
  for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(row[i]);
  return text + "}},";
}

inline void ExpectRows(const CountRows& counted, const CountRows& recorded) {
  for (const auto& [name, row] : counted) {
    const auto level = recorded.find(name);
    if (level == recorded.end())
      ADD_FAILURE() << "counted, but not recorded:\n" << ToText(name, row);
    else if (row != level->second)
      ADD_FAILURE() << "counted\n"
                    << ToText(name, row) << "\nrecorded\n"
                    << ToText(name, level->second);
  }
  for (const auto& [name, row] : recorded) {
    if (!counted.contains(name)) ADD_FAILURE() << "recorded, but not there:\n" << ToText(name, row);
  }
}

// The table of docs/`file` whose first line is `head`: figures by the text of the first column,
// without the backticks. Figures may be grouped by blanks (1 312); `3 of
// 4` is two of them, and other cells are left out.
inline CountRows DocTable(const std::string& file, std::string_view head) {
  std::ifstream in(std::string(STOWPLAN_TESTS_DIR) + "/../docs/" + file);
  std::string line;
  while (std::getline(in, line) && line != head) continue;
  CountRows rows;
  std::getline(in, line);  // |---|---|
  while (std::getline(in, line) && line.starts_with("|")) {
    std::vector<std::string> cells(1);
    for (const char c : line.substr(1)) {
      if (c == '|')
        cells.emplace_back();
      else if (c != '`')
        cells.back() += c;
    }
    std::string name = cells[0];
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    CountRow& row = rows[name];
    for (size_t i = 1; i + 1 < cells.size(); ++i) {
      if (const size_t of = cells[i].find(" of "); of != std::string::npos) {
        cells.insert(cells.begin() + static_cast<ptrdiff_t>(i) + 1, cells[i].substr(of + 4));
        cells[i].resize(of);
      }
      std::erase(cells[i], ' ');
      const bool is_figure = !cells[i].empty() && cells[i].size() < 19 &&
                             cells[i].find_first_not_of("0123456789") == std::string::npos;
      if (is_figure) row.push_back(std::stoll(cells[i]));
    }
  }
  if (rows.empty()) ADD_FAILURE() << "docs/" << file << " has no table " << head;
  return rows;
}

}  // namespace stowplan
