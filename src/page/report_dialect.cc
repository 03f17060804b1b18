// SPDX-License-Identifier: Apache-2.0
#include "page/report_dialect.h"

#include <algorithm>

#include "report/derive.h"
#include "report/write.h"

namespace stowplan::page {
namespace {

using report::FileKind;
using report::Report;
using report::ReportDialect;

bool HasWord(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

void CheckAssignment(const Report& report, const ReportDialect& dialect,
                     std::vector<std::string>& missing) {
  const auto any = [&](auto predicate) {
    return std::ranges::any_of(report.allocations.rows(), predicate);
  };
  if (!report.has_assignment) missing.emplace_back("the assignment");
  if (dialect.address && any([](const report::Allocation& a) { return !a.address; })) {
    missing.emplace_back("the addresses of the allocations");
  }
  // A part of a tuple is rarely a tuple itself.
  const bool wants_parts = dialect.parameter_parts;
  if (any([&](const report::Allocation& a) {
        return a.parameter && a.parameter_index.numbers.count != 0 &&
               a.parameter_shape.starts_with('(') == wants_parts;
      })) {
    missing.emplace_back(wants_parts ? "the shapes of the parameters' parts"
                                     : "the whole shapes of the parameters");
  }
}

void CheckValueList(const Report& report, const ReportDialect& dialect,
                    std::vector<std::string>& missing) {
  if (!report.has_value_list) missing.emplace_back("the value list");
  const bool lacks_text = std::ranges::any_of(report.value_list, [&](report::ValueId id) {
    return report.values[id].instruction_text.empty();
  });
  if (dialect.from_instruction != report::FromInstruction::kAbsent && lacks_text) {
    missing.emplace_back("the texts of the instructions");
  }
}

void CheckLiveRanges(const Report& report, const ReportDialect& dialect,
                     std::vector<std::string>& missing) {
  if (!report.live_ranges) {
    missing.emplace_back("the live ranges");
    return;
  }
  if (report.live_ranges->is_unavailable || report.live_ranges->is_unbounded) return;
  if (dialect.peak_line != report.dialect.peak_line &&
      !ComputeXlaPeak(report, ComputePlainSizes(report), dialect.peak_line)) {
    missing.emplace_back("the shapes of all values that are live at the peak");
  }
  if (dialect.stack_tree && !report.live_ranges->has_tree) {
    missing.emplace_back("the stack tree of the peak");
  }
}

void CheckUsage(const Report& report, const ReportDialect& dialect,
                std::vector<std::string>& missing) {
  if (dialect.usage == report::UsageReport::kNone) {
    missing.emplace_back("a usage report, which it never had");
  } else if (!report.has_assignment && (!report.usage || report.usage->kind != dialect.usage)) {
    missing.emplace_back("the assignment, from which usage follows");
  }
}

}  // namespace

std::vector<std::string> MissingFacts(const Report& report, const ReportDialect& dialect,
                                      const report::Parts& parts) {
  std::vector<std::string> missing;
  if (parts.assignment) CheckAssignment(report, dialect, missing);
  if (parts.value_list) CheckValueList(report, dialect, missing);
  if (parts.live_ranges) CheckLiveRanges(report, dialect, missing);
  if (parts.usage) CheckUsage(report, dialect, missing);
  return missing;
}

bool InstructionTextsDiffer(const Report& report, std::string_view dialect) {
  // libtpu 0.0.13 is the first release without shapes of operands; dialects come oldest first.
  const auto row = [](std::string_view name) {
    return std::ranges::find_if(report::ReportDialects(), [&](const auto& named) {
      return named.name == name || HasWord(named.aliases, name);
    });
  };
  const bool operand_shapes = row(dialect) < row("libtpu-0.0.13");
  for (const report::ValueId id : report.value_list) {
    const std::string_view text = report.values[id].instruction_text;
    // The first operand: `fusion(%x` or `fusion(f32[2]{0} %x`; parameters have numbers, constants
    // literals.
    const size_t open = text.find("(%");
    const size_t shape = text.find("] %");
    const size_t layout = text.find("} %");
    const bool has_shapes = shape != std::string_view::npos || layout != std::string_view::npos;
    if (open == std::string_view::npos && !has_shapes) continue;
    return has_shapes != operand_shapes;
  }
  return false;
}

report::Parts PartsOf(const Report& report, const ReportDialect& dialect) {
  return {.assignment = report.has_assignment,
          .value_list = report.has_value_list,
          .live_ranges = report.live_ranges.has_value(),
          .usage = report.usage && dialect.usage != report::UsageReport::kNone};
}

}  // namespace stowplan::page
