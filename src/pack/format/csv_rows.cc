// SPDX-License-Identifier: Apache-2.0
#include "pack/format/csv_rows.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/checked_math.h"

namespace stowplan::pack {
namespace {

struct ColumnName {
  std::string_view name;
  Column column;
};

// The first name of each is the one that we write; the others are MiniMalloc's too.
constexpr std::array<ColumnName, 17> kNames = {{
    {"id", Column::kId},
    {"buffer", Column::kId},
    {"buffer_id", Column::kId},
    {"lower", Column::kLower},
    {"start", Column::kLower},
    {"begin", Column::kLower},
    {"upper", Column::kUpper},
    {"end", Column::kUpper},
    {"size", Column::kSize},
    {"alignment", Column::kAlignment},
    {"hint", Column::kHint},
    {"gaps", Column::kGaps},
    {"offset", Column::kOffset},
    {"group", Column::kGroup},
    {"apart", Column::kApart},
    {"pools", Column::kPools},
    {"pool", Column::kPool},
}};

std::string_view NameOf(Column column) {
  return std::ranges::find(kNames, column, &ColumnName::column)->name;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view Trim(const char* begin, const char* end) {
  while (begin != end && IsBlank(*begin)) ++begin;
  while (begin != end && IsBlank(end[-1])) --end;
  return {begin, end};
}

// Calls visit(number of the field, its text). The count of fields.
template <class Visit>
size_t EachField(std::string_view line, Visit visit) {
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  for (size_t count = 0;; ++count, ++at) {
    const char* const begin = at;
    while (at != end && *at != ',') ++at;
    visit(count, Trim(begin, at));
    if (at == end) return count + 1;
  }
}

std::string KnownColumns() {
  std::string hint = "the known columns are";
  for (size_t c = 0; c < kColumnCount; ++c)
    hint += (c == 0 ? " " : ", ") + std::string(NameOf(static_cast<Column>(c)));
  return hint;
}

}  // namespace

RowReader::RowReader(const Source& source, Purpose purpose)
    : source_(source), purpose_(purpose), at_(source.begin()), first_row_(source.end()) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (source.bytes().starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
  const std::optional<std::string_view> header = NextLine(at_);
  if (!header) {
    Fail(source.bytes().substr(0, 0), "there is no header: id,lower,upper,size");
    return;
  }
  first_row_ = at_;
  ReadHeader(*header);
  if (!errors_.empty()) at_ = source.end();
}

// Lines of blanks are none.
std::optional<std::string_view> RowReader::NextLine(const char*& at) const {
  while (at != source_.end()) {
    const std::string_view rest(at, source_.end());
    const std::string_view line = rest.substr(0, rest.find('\n'));
    at += std::min(line.size() + 1, rest.size());
    if (!Trim(line.data(), line.data() + line.size()).empty()) return line;
  }
  return std::nullopt;
}

size_t RowReader::Count() const {
  return static_cast<size_t>(std::count(at_, source_.end(), '\n')) + 1;
}

void RowReader::Fail(std::string_view at, std::string message, std::string hint) {
  if (errors_.size() == kMaxErrors) return;
  errors_.push_back(source_.At(static_cast<size_t>(at.data() - source_.begin()), at.size(),
                               std::move(message), std::move(hint)));
}

void RowReader::ReadHeader(std::string_view line) {
  bool has_known = false;
  EachField(line, [&](size_t, std::string_view name) {
    has_known = has_known || std::ranges::find(kNames, name, &ColumnName::name) != kNames.end();
  });
  if (!has_known) {
    Fail(line, "this line has none of the columns: id,lower,upper,size", KnownColumns());
    return;
  }
  EachField(line, [&](size_t, std::string_view name) {
    if (errors_.size() == kMaxErrors) return;
    const auto known = std::ranges::find(kNames, name, &ColumnName::name);
    if (known == kNames.end()) {
      Fail(name, fmt::format("there is no column `{}`", name.substr(0, 40)), KnownColumns());
      return;
    }
    if (Has(known->column))
      Fail(name, fmt::format("the column `{}` appears twice", NameOf(known->column)));
    has_[static_cast<size_t>(known->column)] = true;
    if (name == "end") has_last_ = true;
    columns_.push_back(known->column);
  });
  if (!errors_.empty()) return;
  const auto want = [&](Column column) {
    if (!Has(column)) Fail(line, fmt::format("the column `{}` is missing", NameOf(column)));
  };
  if (purpose_ == Purpose::kPlan) {
    want(Column::kOffset);
    return;
  }
  want(Column::kLower);
  want(Column::kUpper);
  want(Column::kSize);
}

const Row* RowReader::Next() {
  if (errors_.size() == kMaxErrors) return nullptr;
  const std::optional<std::string_view> line = NextLine(at_);
  if (!line) return nullptr;
  row_ = {.line = *line};
  const size_t count = EachField(*line, [&](size_t k, std::string_view field) {
    if (k < columns_.size()) ReadField(columns_[k], field);
  });
  if (count != columns_.size())
    Fail(*line, fmt::format("{} fields, where the header has {}", count, columns_.size()));
  return &row_;
}

void RowReader::ReadField(Column column, std::string_view field) {
  switch (column) {
    case Column::kId:
      row_.id = field;
      if (field.empty()) Fail(field, "an id is missing");
      if (std::ranges::any_of(
              field, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }))
        Fail(field, "an id has no control characters");
      break;
    case Column::kLower:
      row_.lower = ReadNumber(field).value_or(0);
      break;
    case Column::kUpper: {
      const std::optional<int64_t> last = ReadNumber(field);
      const std::optional<int64_t> end = CheckedAdd(last.value_or(0), has_last_ ? 1 : 0);
      if (!end) Fail(field, "the number does not fit in 64 bits");
      row_.upper = end.value_or(0);
      break;
    }
    case Column::kSize:
      row_.size = ReadNumber(field).value_or(0);
      break;
    case Column::kAlignment:
      row_.alignment = ReadNumber(field).value_or(1);
      break;
    case Column::kHint:
      row_.hint = ReadSpot(field);
      break;
    case Column::kOffset:
      row_.offset = purpose_ == Purpose::kPlan ? ReadNumber(field).value_or(0) : ReadSpot(field);
      break;
    case Column::kGaps:
      row_.gaps = field;
      break;
    case Column::kGroup:
      row_.group = field;
      break;
    case Column::kApart:
      row_.apart = field;
      break;
    case Column::kPools:
      row_.pools = field;
      break;
    case Column::kPool:
      row_.pool = field;
      break;
  }
}

std::optional<int64_t> RowReader::ReadNumber(std::string_view field) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error == std::errc() && end == field.data() + field.size()) return number;
  Fail(field, error == std::errc::result_out_of_range ? "the number does not fit in 64 bits"
                                                      : "expected a whole number");
  return std::nullopt;
}

int64_t RowReader::ReadSpot(std::string_view field) {
  return field.empty() ? kNowhere : ReadNumber(field).value_or(kNowhere);
}

std::string_view RowReader::FindField(uint32_t row, std::optional<Column> column) const {
  const char* at = first_row_;
  std::optional<std::string_view> line;
  for (uint32_t k = 0; k <= row; ++k) line = NextLine(at);
  std::string_view found = line.value_or(source_.bytes().substr(0, 0));
  if (!column || !Has(*column)) return found;
  EachField(found, [&](size_t k, std::string_view field) {
    if (k < columns_.size() && columns_[k] == *column) found = field;
  });
  return found;
}

std::optional<uint32_t> FindPool(const Problem& problem, std::string_view name, RowReader& rows) {
  const auto found = std::ranges::find(problem.pools, name, &Pool::name);
  if (found != problem.pools.end()) return static_cast<uint32_t>(found - problem.pools.begin());
  rows.Fail(name, fmt::format("there is no pool `{}`", name), "--pool=NAME:SIZE makes one");
  return std::nullopt;
}

}  // namespace stowplan::pack
