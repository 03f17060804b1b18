// SPDX-License-Identifier: Apache-2.0
// MiniMalloc's CSV with offsets, read and judged by code that shares nothing with the writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan::report::test {

struct CheckedRow {
  int64_t id = 0;
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t size = 0;
  int64_t offset = 0;
  struct Gap {
    int64_t lower = 0;
    int64_t upper = 0;
    int64_t begin = 0;  // of the bytes in use, counted from the offset
    int64_t end = 0;
  };
  std::vector<Gap> gaps = {};

  // The bytes that it has at a time; an empty range when none.
  [[nodiscard]] std::pair<int64_t, int64_t> BytesAt(int64_t time) const {
    if (time < lower || time >= upper) return {0, 0};
    for (const Gap& gap : gaps) {
      if (time >= gap.lower && time < gap.upper) return {offset + gap.begin, offset + gap.end};
    }
    return {offset, offset + size};
  }
};

inline std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

inline std::vector<CheckedRow> ReadPackingCsv(const std::string& csv) {
  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  const bool has_gaps = line == "id,lower,upper,size,gaps,offset";
  EXPECT_TRUE(has_gaps || line == "id,lower,upper,size,offset") << line;
  std::vector<CheckedRow> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = SplitAt(line, ',');
    EXPECT_EQ(fields.size(), has_gaps ? 6U : 5U) << line;
    CheckedRow row{.id = std::stoll(fields.at(0)),
                   .lower = std::stoll(fields.at(1)),
                   .upper = std::stoll(fields.at(2)),
                   .size = std::stoll(fields.at(3)),
                   .offset = std::stoll(fields.back())};
    if (has_gaps && !fields.at(4).empty()) {
      for (const std::string& text : SplitAt(fields.at(4), ' ')) {
        const std::vector<std::string> halves = SplitAt(text, '@');
        const std::vector<std::string> times = SplitAt(halves.at(0), '-');
        CheckedRow::Gap gap{.lower = std::stoll(times.at(0)), .upper = std::stoll(times.at(1))};
        if (halves.size() > 1) {
          gap.begin = std::stoll(SplitAt(halves[1], ':').at(0));
          gap.end = std::stoll(SplitAt(halves[1], ':').at(1));
        }
        row.gaps.push_back(gap);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// How far above a's offset a row b must lie to be above it all the time: MiniMalloc knows no plan
// in which a row is above another for a while and below it later. The smallest number when they
// never meet.
inline int64_t RoomBelow(const CheckedRow& a, const CheckedRow& b) {
  int64_t room = 0;
  // Bytes change only where a row or a gap begins or ends.
  std::set<int64_t> times = {std::max(a.lower, b.lower)};
  for (const CheckedRow* row : {&a, &b}) {
    for (const CheckedRow::Gap& gap : row->gaps) {
      times.insert(gap.lower);
      times.insert(gap.upper);
    }
  }
  bool meet = false;
  for (const int64_t time : times) {
    const auto [a_begin, a_end] = a.BytesAt(time);
    const auto [b_begin, b_end] = b.BytesAt(time);
    if (a_begin == a_end || b_begin == b_end) continue;
    const int64_t needed = (a_end - a.offset) - (b_begin - b.offset);
    room = meet ? std::max(room, needed) : needed;
    meet = true;
  }
  return meet ? room : std::numeric_limits<int64_t>::min();
}

// Pairs of rows of which none is above the other whenever both are in use: there must be none in a
// plan.
inline std::vector<std::pair<int64_t, int64_t>> FindOverlaps(std::vector<CheckedRow> rows) {
  std::vector<std::pair<int64_t, int64_t>> overlaps;
  std::ranges::sort(rows, {}, &CheckedRow::lower);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = i + 1; j < rows.size() && rows[j].lower < rows[i].upper; ++j) {
      const CheckedRow& a = rows[i];
      const CheckedRow& b = rows[j];
      if (a.offset >= b.offset + b.size || b.offset >= a.offset + a.size) continue;
      if (b.offset - a.offset >= RoomBelow(a, b) || a.offset - b.offset >= RoomBelow(b, a))
        continue;
      overlaps.emplace_back(a.id, b.id);
    }
  }
  return overlaps;
}

}  // namespace stowplan::report::test
