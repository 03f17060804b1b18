// SPDX-License-Identifier: Apache-2.0
#include "report/usage.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "hlo/number.h"
#include "report/write.h"
#include "report/write_parts.h"

namespace stowplan::report {
namespace {

using hlo::AppendNumber;

// Sums of hostile sizes stay at the largest number.
int64_t AddClamped(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

int64_t SubtractClamped(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

// Rows are cut only after so many.
constexpr int64_t kAlwaysShown = 50;

}  // namespace

bool IsUsageRestHidden(int64_t shown, int64_t rest, int64_t total) {
  // XLA compares in single precision.
  return shown > kAlwaysShown && static_cast<float>(rest) < static_cast<float>(total) * 0.05F;
}

namespace {

// The same question for the allocations of a memory space, whose rest XLA holds in double
// precision.
bool IsUsageAllocationRestHidden(int64_t shown, int64_t rest, int64_t total) {
  return shown > kAlwaysShown &&
         static_cast<double>(rest) < static_cast<double>(static_cast<float>(total) * 0.05F);
}

template <class Key>
std::unordered_map<Key, size_t> RankOf(const auto& rows, auto key) {
  std::unordered_map<Key, size_t> ranks;
  for (size_t i = 0; i < rows.size(); ++i) ranks.emplace(key(rows[i]), i);
  return ranks;
}

template <class Key>
size_t RankIn(const std::unordered_map<Key, size_t>& ranks, Key key) {
  const auto row = ranks.find(key);
  return row == ranks.end() ? ranks.size() : row->second;
}

}  // namespace

UsageComputer::UsageComputer(const Report& report, UsageOrder order) : report_(report) {
  if (order == UsageOrder::kFixed || !report.usage) return;
  const std::vector<UsageTable>& tables = report.usage->tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].allocation >= 0) kept_.emplace(tables[i].allocation, i);
  }
}

std::string_view UsageComputer::WithoutLayout(std::string_view shape) {
  const auto [row, is_new] = without_layout_.try_emplace(shape);
  if (is_new) {
    const std::optional<hlo::ShapeId> id = shapes_.Parse(shape);
    // What is no shape is shown as it is.
    row->second = id ? hlo::ToString(shapes_.table(), *id, {.layouts = false}) : std::string(shape);
  }
  return row->second;
}

void UsageComputer::OrderAsRead(const UsageTable& table, std::vector<UsageGroup>& groups) const {
  const auto rank = RankOf<int64_t>(table.rows, [](const UsageRow& row) { return row.offset; });
  StableSort(groups, [&](const UsageGroup& a, const UsageGroup& b) {
    if (a.size != b.size) return a.size > b.size;
    return RankIn(rank, a.offset) < RankIn(rank, b.offset);
  });
  for (UsageGroup& group : groups) {
    const size_t row = RankIn(rank, group.offset);
    if (row >= table.rows.size()) continue;
    const auto shape_rank = RankOf<std::string_view>(
        table.rows[row].shapes, [](const UsageShape& shape) { return shape.shape; });
    StableSort(group.shapes, [&](const UsageShape& a, const UsageShape& b) {
      return RankIn(shape_rank, a.shape) < RankIn(shape_rank, b.shape);
    });
  }
}

UsageGroups UsageComputer::Compute(const Allocation& allocation) {
  std::vector<ValueId> values = allocation.values;
  StableSort(values, [&](ValueId a, ValueId b) {
    return std::pair(report_.values[a].offset, report_.values[a].number) <
           std::pair(report_.values[b].offset, report_.values[b].number);
  });
  UsageGroups result;
  std::vector<UsageGroup>& groups = result.groups;
  std::unordered_map<std::string_view, size_t> shape_rows;
  for (const ValueId id : values) {
    const Value& value = report_.values[id];
    if (groups.empty() || groups.back().offset != value.offset) {
      groups.push_back({.offset = value.offset, .size = value.size, .shapes = {}});
      shape_rows.clear();
    }
    UsageGroup& group = groups.back();
    group.size = std::max(group.size, value.size);
    ++group.value_count;
    group.last_number = value.number;
    const std::string_view shape = WithoutLayout(value.shape);
    const auto [row, is_new] = shape_rows.try_emplace(shape, group.shapes.size());
    if (is_new) group.shapes.push_back({.count = 0, .shape = shape});
    ++group.shapes[row->second].count;
  }
  for (UsageGroup& group : groups) {
    std::ranges::sort(group.shapes, [](const UsageShape& a, const UsageShape& b) {
      return std::pair(a.count, a.shape) < std::pair(b.count, b.shape);
    });
  }
  StableSort(groups, [](const UsageGroup& a, const UsageGroup& b) {
    if (a.size != b.size) return a.size > b.size;
    return a.last_number < b.last_number;
  });
  if (const auto kept = kept_.find(allocation.number); kept != kept_.end()) {
    OrderAsRead(report_.usage->tables[kept->second], groups);
  }
  for (UsageGroup& group : groups) {
    result.total = AddClamped(result.total, group.size);
    group.cumulative = result.total;
  }
  return result;
}

std::vector<AllocationId> UsageComputer::SortedAllocations(std::optional<int64_t> color) const {
  std::vector<AllocationId> ids;
  for (size_t i = 0; i < report_.allocations.size(); ++i) {
    if (!color || report_.allocations[AllocationId(i)].color == *color) ids.emplace_back(i);
  }
  StableSort(ids, [&](AllocationId x, AllocationId y) {
    const Allocation& a = report_.allocations[x];
    const Allocation& b = report_.allocations[y];
    if (a.size != b.size) return a.size > b.size;
    const size_t rank_a = RankIn(kept_, a.number);
    const size_t rank_b = RankIn(kept_, b.number);
    return rank_a != rank_b ? rank_a < rank_b : a.number < b.number;
  });
  return ids;
}

std::string UsageSpaceName(int64_t color) {
  constexpr std::array<std::string_view, 6> kNames = {"default", "vmem", "smem",
                                                      "hbm",     "host", "cmem"};
  if (color >= 0 && color < static_cast<int64_t>(kNames.size())) {
    return std::string(kNames[static_cast<size_t>(color)]);
  }
  return "color_" + std::to_string(color);
}

namespace {

void AppendRightAligned(std::string_view text, size_t width, std::string& out) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out += text;
}

// `  12.0KiB( 99%); `: the sum and its share.
void AppendCumulative(int64_t cumulative, int64_t total, size_t width, std::string& out) {
  AppendRightAligned(HumanBytes(cumulative), width, out);
  std::array<char, 32> percent{};
  // What x86 makes of 0/0 has its sign bit set, and other machines may differ.
  const int length =
      total == 0
          ? std::snprintf(percent.data(), percent.size(), "(-nan%%); ")
          : std::snprintf(percent.data(), percent.size(), "(%3.0f%%); ",
                          100.0 * static_cast<double>(cumulative) / static_cast<double>(total));
  out.append(percent.data(), static_cast<size_t>(length));
}

void AppendGroup(const UsageGroup& group, int64_t total, std::string_view prefix,
                 std::string& out) {
  out += prefix;
  AppendCumulative(group.cumulative, total, 9, out);
  AppendRightAligned(HumanBytes(group.size), 10, out);
  out += "; ";
  AppendRightAligned(std::to_string(group.offset), 12, out);
  out += "; ";
  AppendRightAligned(std::to_string(group.value_count), 16, out);
  out += "; ";
  bool is_first = true;
  for (const UsageShape& shape : group.shapes) {
    if (!is_first) out += ", ";
    is_first = false;
    if (shape.count != 1) {
      AppendNumber(shape.count, out);
      out += "×";
    }
    out += shape.shape;
  }
  out += '\n';
}

void AppendTable(const UsageGroups& table, std::string_view prefix, std::string& out) {
  out.append(prefix).append(
      "cumulative_size;       size;       offset; used_by_n_values; shapes_list\n");
  out.append(prefix).append(60, '-').append("\n");
  for (size_t i = 0; i < table.groups.size(); ++i) {
    const UsageGroup& group = table.groups[i];
    AppendGroup(group, table.total, prefix, out);
    const auto shown = static_cast<int64_t>(i) + 1;
    const int64_t rest = SubtractClamped(table.total, group.cumulative);
    if (!IsUsageRestHidden(shown, rest, table.total)) continue;
    out.append(prefix).append("The rest ");
    AppendNumber(static_cast<int64_t>(table.groups.size()) - shown, out);
    out += " values are less than 5% of the total size and not shown.\n";
    return;
  }
}

int64_t SizeOf(const Report& report, std::span<const AllocationId> ids) {
  int64_t total = 0;
  for (const AllocationId id : ids) total = AddClamped(total, report.allocations[id].size);
  return total;
}

void AppendTotal(int64_t total, std::string& out) {
  AppendNumber(total, out);
  out.append(" (").append(HumanBytes(total)).append(")\n");
}

// Since 2026-03: a block a memory space.
std::string WriteSpaces(const Report& report) {
  UsageComputer computer(report, UsageOrder::kFixed);
  std::map<int64_t, std::vector<AllocationId>> spaces;  // by color
  for (const AllocationId id : computer.SortedAllocations(std::nullopt))
    spaces[report.allocations[id].color].push_back(id);
  std::string out;
  for (const auto& [color, ids] : spaces) {
    const int64_t total = SizeOf(report, ids);
    out.append("Memory Space: ").append(UsageSpaceName(color)).append(" (color=");
    AppendNumber(color, out);
    out += ")\nTotal bytes: ";
    AppendTotal(total, out);
    int64_t cumulative = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const Allocation& allocation = report.allocations[ids[i]];
      AppendTable(computer.Compute(allocation), "  ", out);
      out += '\n';
      cumulative = AddClamped(cumulative, allocation.size);
      const auto shown = static_cast<int64_t>(i) + 1;
      if (IsUsageAllocationRestHidden(shown, SubtractClamped(total, cumulative), total)) break;
    }
    out += '\n';
  }
  return out;
}

// The list of allocations that begins the report before 2026-03.
void AppendAllocationList(const Report& report, const ReportDialect& dialect,
                          std::span<const AllocationId> ids, std::string& out) {
  const int64_t total = SizeOf(report, ids);
  out += "Total bytes used: ";
  AppendTotal(total, out);
  out += "\nAllocations sorted by size:\n\n";
  out += "cumulative_size; total_size - cumulative_size; allocation\n";
  out.append(78, '-').append("\n");
  int64_t cumulative = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Allocation& allocation = report.allocations[ids[i]];
    cumulative = AddClamped(cumulative, allocation.size);
    const int64_t rest = SubtractClamped(total, cumulative);
    AppendCumulative(cumulative, total, 10, out);
    AppendRightAligned(HumanBytes(rest), 10, out);
    out += "; ";
    AppendAllocation(report, allocation, dialect, HumanBytes(allocation.size), out);
    const auto shown = static_cast<int64_t>(i) + 1;
    if (!IsUsageRestHidden(shown, rest, total)) continue;
    out += "The rest ";
    AppendNumber(static_cast<int64_t>(ids.size()) - shown, out);
    out += " allocations are less than 5% of the total size and not shown.\n";
    break;
  }
}

std::string WriteUsageAllocations(const Report& report, const ReportDialect& dialect,
                                  UsageOrder order) {
  UsageComputer computer(report, order);
  const std::vector<AllocationId> ids = computer.SortedAllocations(std::nullopt);
  std::string out;
  AppendAllocationList(report, dialect, ids, out);
  out += "\n\nAllocations sorted by size with their values:\n";
  for (const AllocationId id : ids) {
    const Allocation& allocation = report.allocations[id];
    AppendAllocation(report, allocation, dialect, HumanBytes(allocation.size), out);
    if (allocation.values.size() == 1) continue;
    out += '\n';
    AppendTable(computer.Compute(allocation), "\t", out);
    out += '\n';
  }
  return out;
}

}  // namespace

std::string WriteUsage(const Report& report, const ReportDialect& dialect) {
  // Without the assignment there is nothing to compute from.
  if (!report.has_assignment) return report.usage ? std::string(report.usage->text) : std::string();
  switch (dialect.usage) {
    case UsageReport::kNone:
      break;
    case UsageReport::kHashOrder:
      return WriteUsageAllocations(report, dialect, UsageOrder::kAsRead);
    case UsageReport::kSorted:
      return WriteUsageAllocations(report, dialect, UsageOrder::kFixed);
    case UsageReport::kSpaces:
      return WriteSpaces(report);
  }
  return {};
}

UsageReport FindUsageOrder(const Report& report) {
  if (!report.usage) return UsageReport::kNone;
  if (report.usage->kind != UsageReport::kHashOrder || !report.has_assignment)
    return report.usage->kind;
  ReportDialect sorted = report.dialect;
  sorted.usage = UsageReport::kSorted;
  return WriteUsage(report, sorted) == report.usage->text ? UsageReport::kSorted
                                                          : UsageReport::kHashOrder;
}

}  // namespace stowplan::report
