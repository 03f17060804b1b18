// SPDX-License-Identifier: Apache-2.0
// The rows of a CSV file, field by field. Mistakes are gathered with their places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/pack.h"

namespace stowplan::pack {

enum class Column : uint8_t {
  kId,
  kLower,
  kUpper,
  kSize,
  kAlignment,
  kHint,
  kGaps,
  kOffset,
  kGroup,
  kApart,
  kPools,
  kPool,
};
inline constexpr size_t kColumnCount = 12;

// A plan needs offsets, and nothing of what its problem says already.
enum class Purpose : uint8_t { kProblem, kPlan };

// No hint, or no pin; files say -1, or nothing.
inline constexpr int64_t kNowhere = -1;

struct Row {
  std::string_view line;
  std::string_view id;
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t size = 0;
  int64_t alignment = 1;
  int64_t hint = kNowhere;
  int64_t offset = kNowhere;
  std::string_view gaps;
  std::string_view group;
  std::string_view apart;
  std::string_view pools;
  std::string_view pool;
};

class RowReader {
 public:
  // Reads the header.
  RowReader(const Source& source, Purpose purpose);

  // The next row, until the next call; null at the end, and when there are too many mistakes.
  const Row* Next();

  // At most so many rows follow.
  [[nodiscard]] size_t Count() const;
  [[nodiscard]] bool Has(Column column) const { return has_[static_cast<size_t>(column)]; }
  // Whether lives and gaps are given with their last moments (`end`), not with the one after.
  [[nodiscard]] bool has_last() const { return has_last_; }
  // The field of a row that has been read; the whole row when there is no such column.
  [[nodiscard]] std::string_view FindField(uint32_t row, std::optional<Column> column) const;

  void Fail(std::string_view at, std::string message, std::string hint = {});
  [[nodiscard]] Diagnostics& errors() { return errors_; }

 private:
  std::optional<std::string_view> NextLine(const char*& at) const;
  void ReadHeader(std::string_view line);
  void ReadField(Column column, std::string_view field);
  std::optional<int64_t> ReadNumber(std::string_view field);
  int64_t ReadSpot(std::string_view field);

  const Source& source_;
  Purpose purpose_;
  const char* at_;
  const char* first_row_;
  std::vector<Column> columns_;
  bool has_[kColumnCount] = {};
  bool has_last_ = false;
  Row row_;
  Diagnostics errors_;
};

// Calls visit(word) for each of the words between blanks.
template <class Visit>
void EachWord(std::string_view text, Visit visit) {
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    if (text.empty()) return;
    size_t end = 0;
    while (end < text.size() && text[end] != ' ' && text[end] != '\t') ++end;
    visit(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// The pool of that name; nothing, and a mistake, when there is none.
std::optional<uint32_t> FindPool(const Problem& problem, std::string_view name, RowReader& rows);

}  // namespace stowplan::pack
