// SPDX-License-Identifier: Apache-2.0
// Everything that a report says, as one text: two reports with the same text say the same.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stowplan/report/report.h"

namespace stowplan::report::test {

// Where a report comes from is no fact: its sources, how they were divided into files
// (ReportDialect::separate_files), and where its pools begin are left out.
class Facts {
 public:
  explicit Facts(const Report& report) : report_(report) {}

  std::string Text() && {
    AddDialect(report_.dialect);
    Add("name {}, total {}", report_.name, Or(report_.said_total));
    for (const Allocation& allocation : report_.allocations.rows()) AddAllocation(allocation);
    for (const Value& value : report_.values.rows()) AddValue(value);
    if (report_.has_value_list) Add("value list {}", Ids(report_.value_list));
    if (report_.live_ranges) AddRanges(*report_.live_ranges);
    if (report_.usage) AddUsage(*report_.usage);
    Add("assignment {}", report_.has_assignment);
    return std::move(out_);
  }

 private:
  template <class... T>
  void Add(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
    out_ += '\n';
  }
  static std::string Or(const auto& optional) {
    return optional ? fmt::format("{}", *optional) : "none";
  }
  [[nodiscard]] std::string At(const Index& index) const {
    return index.is_shown ? fmt::format("{{{}}}", fmt::join(report_.numbers(index), ",")) : "";
  }
  static std::string Ids(const std::vector<ValueId>& ids) {
    std::string out;
    for (const ValueId id : ids) out += fmt::format(" {}", id.index);
    return out;
  }

  void AddDialect(const ReportDialect& d) {
    Add("dialect {} {} {} {} {} {} {} {} {}", d.address, d.page, d.human_total,
        static_cast<int>(d.from_instruction), d.none_uses, static_cast<int>(d.peak_line),
        d.stack_tree, d.parameter_parts, static_cast<int>(d.usage));
  }

  void AddAllocation(const Allocation& a) {
    Add("allocation {} size {} color {} address {} page {} parameter {} |{}| {} output |{}| {} {} "
        "{} values{} others{}",
        a.number, a.size, a.color, Or(a.address), Or(a.page), Or(a.parameter), a.parameter_shape,
        At(a.parameter_index), Or(a.output_shape), a.is_constant, a.is_thread_local,
        a.is_maybe_live_out, Ids(a.values), Ids(a.other_colors));
  }

  void AddValue(const Value& v) {
    Add("value {} {}{} phi {} color {} in {} size {} offset {} |{}| listed {}", v.number,
        v.instruction, At(v.index), v.is_phi, v.color,
        v.allocation.is_none() ? "none" : std::to_string(v.allocation.index), v.size, v.offset,
        v.shape, v.is_listed);
    for (const Position& p : report_.positions_of(v)) Add("  at {}{}", p.instruction, At(p.index));
    for (const Use& u : report_.uses_of(v))
      Add("  read by {} operand {}{}", u.instruction, u.operand, At(u.index));
    Add("  uses {} from {}", v.has_uses, v.instruction_text);
    Add("  range {} {}-{}", v.has_range, v.start, v.end);
  }

  void AddRanges(const LiveRanges& r) {
    Add("ranges to {} unbounded {} unavailable {} sequence {}", r.end, r.is_unbounded,
        r.is_unavailable, fmt::join(r.sequence, " "));
    Add("  of{} peak {} tree {}", Ids(r.values), Or(r.peak_time), r.has_tree);
    for (const PeakRow& row : r.peak) Add("  {}{} {}", row.instruction, At(row.index), row.bytes);
    for (const TreeNode& node : r.tree) Add("  {} {} {}", node.depth, node.name, node.current);
  }

  void AddUsage(const Usage& usage) {
    Add("usage {}", static_cast<int>(usage.kind));
    for (const UsageTable& table : usage.tables) {
      Add("  table {} {} |{}| hidden {}", table.allocation, table.color, table.head,
          table.hidden_rows);
      for (const UsageRow& row : table.rows) {
        Add("    {} {} {}", row.offset, row.value_count, row.size);
        for (const UsageShape& shape : row.shapes) Add("      {} {}", shape.count, shape.shape);
      }
    }
    Add("{}", usage.text);
  }

  const Report& report_;
  std::string out_;
};

inline std::string FactsOf(const Report& report) { return Facts(report).Text(); }

}  // namespace stowplan::report::test
