// SPDX-License-Identifier: Apache-2.0
#include "stowplan/pack/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_set>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "stowplan/pack/check.h"

namespace stowplan::pack {
namespace {

enum class Column : uint8_t { kId, kLower, kUpper, kSize, kOffset, kAlignment };
constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",  "upper",
                                                      "size", "offset", "alignment"};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

class TableReader {
 public:
  explicit TableReader(const Source& source) : source_(source) {}

  Result<Table> Read() && {
    std::string_view rest = source_.bytes();
    bool has_header = false;
    while (!rest.empty() && errors_.size() < kMaxErrors) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (Trim(line).empty()) continue;
      if (!std::exchange(has_header, true)) {
        ReadHeader(line);
        if (!errors_.empty()) break;
        continue;
      }
      ReadRow(line);
    }
    if (!has_header) Fail(source_.bytes().substr(0, 0), "there is no header: id,lower,upper,size");
    CheckSum();
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(table_);
  }

 private:
  void Fail(std::string_view at, std::string message, std::string hint = {}) {
    if (errors_.size() == kMaxErrors) return;
    errors_.push_back(source_.At(static_cast<size_t>(at.data() - source_.begin()), at.size(),
                                 std::move(message), std::move(hint)));
  }

  // Calls visit(number of the column, its text) for each field.
  template <class Visit>
  static size_t EachField(std::string_view line, Visit visit) {
    size_t count = 0;
    while (true) {
      const size_t comma = std::min(line.find(','), line.size());
      visit(count++, Trim(line.substr(0, comma)));
      if (comma == line.size()) return count;
      line.remove_prefix(comma + 1);
    }
  }

  void ReadHeader(std::string_view line) {
    EachField(line, [&](size_t, std::string_view name) {
      const auto known = std::ranges::find(kColumns, name);
      if (known == kColumns.end()) {
        Fail(name, fmt::format("there is no column `{}`", name),
             "id, lower, upper, size, offset and alignment are known");
        return;
      }
      const auto column = static_cast<Column>(known - kColumns.begin());
      if (std::ranges::find(columns_, column) != columns_.end())
        Fail(name, fmt::format("the column `{}` is there twice", name));
      columns_.push_back(column);
    });
    for (const Column column : {Column::kLower, Column::kUpper, Column::kSize}) {
      if (std::ranges::find(columns_, column) == columns_.end() && errors_.empty()) {
        Fail(line,
             fmt::format("the column `{}` is missing", kColumns[static_cast<size_t>(column)]));
      }
    }
    if (std::ranges::find(columns_, Column::kOffset) != columns_.end()) table_.offsets.emplace();
  }

  void ReadRow(std::string_view line) {
    Buffer buffer;
    int64_t offset = 0;
    std::string_view id;
    const size_t errors = errors_.size();
    const size_t count = EachField(line, [&](size_t k, std::string_view field) {
      if (k >= columns_.size()) return;
      if (columns_[k] == Column::kId) {
        id = field;
        return;
      }
      const std::optional<int64_t> number = ReadNumber(field);
      if (!number) return;
      switch (columns_[k]) {
        case Column::kLower:
          buffer.start = *number;
          break;
        case Column::kUpper:
          buffer.end = *number;
          break;
        case Column::kSize:
          buffer.size = *number;
          if (*number < 0) Fail(field, "a size is not negative");
          break;
        case Column::kOffset:
          offset = *number;
          break;
        case Column::kAlignment:
          buffer.alignment = *number;
          if (*number < 1) Fail(field, "an alignment is positive");
          break;
        case Column::kId:
          break;
      }
    });
    if (count != columns_.size())
      Fail(line, fmt::format("{} fields, where the header has {}", count, columns_.size()));
    if (errors_.size() == errors && buffer.start >= buffer.end)
      Fail(line, "the buffer ends before it begins");
    if (!id.empty() && !ids_.insert(id).second) Fail(id, fmt::format("`{}` is there twice", id));
    rows_.push_back(line);
    table_.ids.emplace_back(id.empty() ? std::to_string(table_.problem.buffers.size())
                                       : std::string(id));
    table_.problem.buffers.push_back(buffer);
    if (table_.offsets) table_.offsets->push_back(offset);
  }

  std::optional<int64_t> ReadNumber(std::string_view field) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    if (error == std::errc::result_out_of_range) {
      Fail(field, "the number does not fit in 64 bits");
      return std::nullopt;
    }
    if (error != std::errc() || end != field.data() + field.size()) {
      Fail(field, "a whole number is wanted here");
      return std::nullopt;
    }
    return number;
  }

  // No offset of a plan is above the sum of all sizes and alignments, so that no sum overflows.
  void CheckSum() {
    int64_t sum = 0;
    for (size_t b = 0; b < table_.problem.buffers.size() && errors_.empty(); ++b) {
      const Buffer& buffer = table_.problem.buffers[b];
      const std::optional<int64_t> step = CheckedAdd(buffer.size, buffer.alignment);
      const std::optional<int64_t> next = step ? CheckedAdd(sum, *step) : std::nullopt;
      const bool has_length = CheckedAdd(buffer.end, -(buffer.start + 1)).has_value();
      if (!next) Fail(rows_[b], "the sizes up to here do not fit in 64 bits together");
      if (!has_length) Fail(rows_[b], "the buffer lives for more than 64 bits can count");
      sum = next.value_or(0);
    }
  }

  const Source& source_;
  std::vector<Column> columns_;
  Table table_;
  std::vector<std::string_view> rows_;
  std::unordered_set<std::string_view> ids_;
  Diagnostics errors_;
};

}  // namespace

Result<Table> ReadTable(const Source& source) { return TableReader(source).Read(); }

std::string WriteTable(const Table& table, const Plan& plan) {
  const bool has_alignment = std::ranges::any_of(
      table.problem.buffers, [](const Buffer& buffer) { return buffer.alignment != 1; });
  std::string out =
      has_alignment ? "id,lower,upper,size,alignment,offset\n" : "id,lower,upper,size,offset\n";
  for (size_t b = 0; b < table.problem.buffers.size(); ++b) {
    const Buffer& buffer = table.problem.buffers[b];
    fmt::format_to(std::back_inserter(out), "{},{},{},{}", table.ids[b], buffer.start, buffer.end,
                   buffer.size);
    if (has_alignment) fmt::format_to(std::back_inserter(out), ",{}", buffer.alignment);
    fmt::format_to(std::back_inserter(out), ",{}\n", plan.offsets[b]);
  }
  return out;
}

}  // namespace stowplan::pack
