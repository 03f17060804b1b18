// SPDX-License-Identifier: Apache-2.0
// Computes the memory-usage report: what lies at each offset of an allocation.
//
// Values that share an offset are one row. A row is as large as its largest value, so the rows of
// an allocation may add up to more than its size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/shapes.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct UsageGroup {
  int64_t offset = 0;
  int64_t size = 0;        // of the largest value
  int64_t cumulative = 0;  // sizes of the groups up to this one
  int64_t value_count = 0;
  int64_t last_number = 0;  // the largest of its values' numbers: XLA's order of groups of one size
  std::vector<UsageShape> shapes = {};
};
struct UsageGroups {
  int64_t total = 0;               // sizes of all groups
  std::vector<UsageGroup> groups;  // by falling size
};

// How groups of equal size, and the shapes of a group, are ordered: by number and by count, or as a
// file had them.
enum class UsageOrder : uint8_t { kFixed, kAsRead };

// Groups for the allocations of one report, which must outlive this.
class UsageComputer {
 public:
  UsageComputer(const Report& report, UsageOrder order);

  // The texts of its shapes are valid as long as this object.
  UsageGroups Compute(const Allocation& allocation);
  // The allocations of one color, or all of them, by descending size.
  [[nodiscard]] std::vector<AllocationId> SortedAllocations(std::optional<int64_t> color) const;

 private:
  std::string_view WithoutLayout(std::string_view shape);
  void OrderAsRead(const UsageTable& table, std::vector<UsageGroup>& groups) const;

  const Report& report_;
  std::unordered_map<int64_t, size_t> kept_;  // by number of the allocation: row of Usage::tables
  ShapeTexts shapes_;
  std::unordered_map<std::string_view, std::string> without_layout_;
};

// Whether XLA leaves out what follows entry number `shown`, when `rest` of `total` bytes remain.
bool IsUsageRestHidden(int64_t shown, int64_t rest, int64_t total);

// `default` for color 0, ...: the names of XLA's usage report, whatever the back end calls its
// memories.
std::string UsageSpaceName(int64_t color);

// Which order the report's usage file is in: kSorted when the fixed order gives its text, and what
// the file was read as otherwise.
UsageReport FindUsageOrder(const Report& report);

}  // namespace stowplan::report
