// SPDX-License-Identifier: Apache-2.0
#include "pack/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "pack/format/csv_rows.h"
#include "pack/format/id_index.h"
#include "pack/problem/mistakes.h"

namespace stowplan::pack {
namespace {

// "3-7", "3-7@0:16": in [3, 7) only bytes [0, 16) are in use, without the latter none.
std::optional<Gap> ParseGap(std::string_view word) {
  const char* at = word.data();
  const char* const end = word.data() + word.size();
  const auto number = [&](int64_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc();
  };
  const auto skip = [&](char c) {
    if (at == end || *at != c) return false;
    ++at;
    return true;
  };
  Gap gap;
  if (!number(gap.start) || !skip('-') || !number(gap.end)) return std::nullopt;
  if (at != end && (!skip('@') || !number(gap.low) || !skip(':') || !number(gap.high)))
    return std::nullopt;
  if (at != end) return std::nullopt;
  if (gap.low == gap.high && gap.low > 0) gap.low = gap.high = 0;  // nothing is nothing
  return gap;
}

class TableReader {
 public:
  TableReader(std::shared_ptr<const Source> source, std::vector<Pool> pools)
      : source_(std::move(source)), rows_(*source_, Purpose::kProblem) {
    table_.problem.pools = std::move(pools);
  }

  Result<Table> Read() && {
    const size_t count = rows_.Count();
    table_.problem.buffers.reserve(count);
    if (rows_.Has(Column::kId)) table_.ids.Reserve(count, source_->size());
    while (const Row* const row = rows_.Next()) Take(*row);
    if (rows_.errors().empty()) LookUpIds();
    if (rows_.errors().empty()) ShowMistakes();
    if (!rows_.errors().empty()) return std::unexpected(std::move(rows_.errors()));
    return std::move(table_);
  }

 private:
  void Take(const Row& row) {
    Problem& problem = table_.problem;
    const auto b = static_cast<uint32_t>(problem.buffers.size());
    problem.buffers.push_back({row.size, row.lower, row.upper, row.alignment});
    if (rows_.Has(Column::kId)) table_.ids.Add(row.id);
    if (row.hint != kNowhere) problem.hints.push_back({b, row.hint});
    if (row.offset != kNowhere) problem.pins.push_back({b, row.offset});
    if (!row.gaps.empty()) TakeGaps(b, row.gaps);
    if (!row.group.empty()) {
      const auto [found, is_new] = groups_.try_emplace(row.group, problem.groups.size());
      if (is_new) {
        problem.groups.emplace_back();
        table_.groups.Add(row.group);
      }
      problem.groups[found->second].push_back(b);
    }
    if (!row.apart.empty()) apart_.emplace_back(b, row.apart);
    if (const std::string_view names = row.pool.empty() ? row.pools : row.pool; !names.empty()) {
      PoolChoice choice = {.buffer = b};
      EachWord(names, [&](std::string_view name) {
        if (const auto pool = FindPool(problem, name, rows_)) choice.pools.push_back(*pool);
      });
      problem.choices.push_back(std::move(choice));
    }
  }

  void TakeGaps(uint32_t b, std::string_view words) {
    std::vector<Gap>& gaps = table_.problem.gaps;
    const auto first = static_cast<ptrdiff_t>(gaps.size());
    EachWord(words, [&](std::string_view word) {
      std::optional<Gap> gap = ParseGap(word);
      const std::optional<int64_t> end =
          gap ? CheckedAdd(gap->end, rows_.has_last() ? 1 : 0) : std::nullopt;
      if (!end) {
        rows_.Fail(word, "a gap is wanted here", "3-7, or 3-7@0:16 when bytes 0 to 16 stay in use");
        return;
      }
      gap->buffer = b;
      gap->end = *end;
      gaps.push_back(*gap);
    });
    std::ranges::stable_sort(gaps.begin() + first, gaps.end(), {}, &Gap::start);
  }

  void LookUpIds() {
    if (apart_.empty() && AreDistinctNumbers(table_.ids)) return;
    if (table_.ids.empty() && !apart_.empty()) {
      rows_.Fail(apart_.front().second, "there are no ids that this could mean",
                 "the column `id` is missing");
      return;
    }
    IdIndex index(table_.ids, [&](uint32_t row) {
      rows_.Fail(rows_.FindField(row, Column::kId),
                 fmt::format("`{}` is there twice", table_.ids[row]));
    });
    for (const auto& [b, words] : apart_) {
      EachWord(words, [&, buffer = b](std::string_view id) {
        const std::optional<uint32_t> other = index.Find(id);
        if (!other) rows_.Fail(id, fmt::format("there is no buffer `{}`", id));
        if (other)
          table_.problem.apart.emplace_back(std::min(buffer, *other), std::max(buffer, *other));
      });
    }
    // Each of two may name the other.
    std::ranges::sort(table_.problem.apart);
    const auto rest = std::ranges::unique(table_.problem.apart);
    table_.problem.apart.erase(rest.begin(), rest.end());
  }

  void ShowMistakes() {
    static constexpr auto kColumnOf = [](Part part) -> std::optional<Column> {
      switch (part) {
        case Part::kSize:
          return Column::kSize;
        case Part::kAlignment:
          return Column::kAlignment;
        case Part::kGaps:
          return Column::kGaps;
        case Part::kPin:
          return Column::kOffset;
        case Part::kHint:
          return Column::kHint;
        case Part::kGroup:
          return Column::kGroup;
        case Part::kApart:
          return Column::kApart;
        case Part::kChoice:
          return Column::kPools;
        case Part::kLife:
        case Part::kPool:
        case Part::kNames:
          break;
      }
      return std::nullopt;
    };
    for (const Mistake& mistake : FindMistakes(table_.problem, table_.ids)) {
      if (mistake.part == Part::kPool) {
        rows_.errors().push_back({.file = source_->name(), .message = mistake.text});
        continue;
      }
      rows_.Fail(rows_.FindField(mistake.row, kColumnOf(mistake.part)), mistake.text);
    }
  }

  std::shared_ptr<const Source> source_;
  RowReader rows_;
  Table table_;
  std::unordered_map<std::string_view, size_t> groups_;
  std::vector<std::pair<uint32_t, std::string_view>> apart_;
};

// The rows of a plan, by the problem's numbers.
class PlanReader {
 public:
  PlanReader(std::shared_ptr<const Source> source, const Table& table)
      : source_(std::move(source)),
        rows_(*source_, Purpose::kPlan),
        table_(table),
        index_(table.ids, [](uint32_t) {}) {}

  Result<Plan> Read() && {
    const Problem& problem = table_.problem;
    const bool has_pools = !problem.pools.empty();
    plan_.offsets.assign(problem.buffers.size(), kNowhere);
    if (has_pools) plan_.pools.assign(problem.buffers.size(), 0);
    is_seen_.assign(problem.buffers.size(), false);
    for (uint32_t number = 0; const Row* const row = rows_.Next(); ++number) Take(*row, number);
    if (rows_.errors().empty()) {
      const auto missing = std::ranges::find(is_seen_, false);
      if (missing != is_seen_.end()) {
        const auto b = static_cast<size_t>(missing - is_seen_.begin());
        return Fail(source_->name(),
                    fmt::format("the plan has no row for buffer `{}`", IdOf(table_, b)));
      }
      SetHeight();
      return std::move(plan_);
    }
    return std::unexpected(std::move(rows_.errors()));
  }

 private:
  std::optional<uint32_t> FindBuffer(const Row& row, uint32_t number) {
    if (rows_.Has(Column::kId) && !table_.ids.empty()) return index_.Find(row.id);
    // Rows without ids are their numbers.
    if (rows_.Has(Column::kId)) {
      const auto [end, error] =
          std::from_chars(row.id.data(), row.id.data() + row.id.size(), number);
      if (error != std::errc() || end != row.id.data() + row.id.size()) return std::nullopt;
    }
    return number < is_seen_.size() ? std::optional(number) : std::nullopt;
  }

  void Take(const Row& row, uint32_t number) {
    const std::optional<uint32_t> b = FindBuffer(row, number);
    if (!b || is_seen_[*b]) {
      rows_.Fail(row.line, b ? fmt::format("`{}` is there twice", IdOf(table_, *b))
                             : "the problem has no such buffer");
      return;
    }
    is_seen_[*b] = true;
    const Buffer& buffer = table_.problem.buffers[*b];
    if ((rows_.Has(Column::kSize) && row.size != buffer.size) ||
        (rows_.Has(Column::kLower) && row.lower != buffer.start) ||
        (rows_.Has(Column::kUpper) && row.upper != buffer.end)) {
      rows_.Fail(row.line, fmt::format("in the problem this buffer has {} bytes in [{}, {})",
                                       buffer.size, buffer.start, buffer.end));
    }
    plan_.offsets[*b] = row.offset;
    if (plan_.pools.empty()) return;
    if (const auto pool = FindPool(table_.problem, row.pool, rows_)) plan_.pools[*b] = *pool;
  }

  void SetHeight() {
    for (size_t b = 0; b < plan_.offsets.size(); ++b) {
      if (!plan_.pools.empty() && plan_.pools[b] + 1 != table_.problem.pools.size()) continue;
      plan_.height =
          std::max(plan_.height, SaturatingAdd(plan_.offsets[b], table_.problem.buffers[b].size));
    }
  }

  std::shared_ptr<const Source> source_;
  RowReader rows_;
  const Table& table_;
  IdIndex index_;
  Plan plan_;
  std::vector<bool> is_seen_;
};

}  // namespace

std::string IdOf(const Table& table, size_t buffer) {
  return table.ids.empty() ? std::to_string(buffer) : std::string(table.ids[buffer]);
}

Result<Table> ReadTable(std::shared_ptr<const Source> source, std::vector<Pool> pools) {
  return TableReader(std::move(source), std::move(pools)).Read();
}

Result<Plan> ReadPlan(std::shared_ptr<const Source> source, const Table& table) {
  return PlanReader(std::move(source), table).Read();
}

}  // namespace stowplan::pack
