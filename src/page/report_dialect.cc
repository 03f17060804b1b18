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

bool HasPart(std::span<const FileKind> parts, FileKind part) {
  return std::ranges::find(parts, part) != parts.end();
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
                                      std::span<const FileKind> parts) {
  std::vector<std::string> missing;
  const bool is_combined = !dialect.separate_files && HasPart(parts, FileKind::kAssignment);
  if (HasPart(parts, FileKind::kAssignment)) CheckAssignment(report, dialect, missing);
  if (is_combined || HasPart(parts, FileKind::kValueList)) {
    CheckValueList(report, dialect, missing);
  }
  if ((is_combined && dialect.peak_line != report::PeakLine::kNone) ||
      HasPart(parts, FileKind::kLiveRanges)) {
    CheckLiveRanges(report, dialect, missing);
  }
  if (HasPart(parts, FileKind::kUsage)) CheckUsage(report, dialect, missing);
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

std::vector<FileKind> PartsOf(const Report& report, const ReportDialect& dialect) {
  std::vector<FileKind> parts;
  if (report.has_assignment) parts.push_back(FileKind::kAssignment);
  const bool is_combined = !dialect.separate_files && report.has_assignment;
  if (report.has_value_list && !is_combined) parts.push_back(FileKind::kValueList);
  if (report.live_ranges && !is_combined) parts.push_back(FileKind::kLiveRanges);
  if (report.usage && dialect.usage != report::UsageReport::kNone) {
    parts.push_back(FileKind::kUsage);
  }
  return parts;
}

std::string WritePart(const Report& report, const ReportDialect& dialect, FileKind part) {
  switch (part) {
    case FileKind::kAssignment:
      return WriteAssignment(report, dialect);
    case FileKind::kValueList:
      return WriteValueList(report, dialect);
    case FileKind::kLiveRanges:
      return WriteLiveRanges(report, dialect);
    case FileKind::kUsage:
      return WriteUsage(report, dialect);
    case FileKind::kUnknown:
      break;
  }
  return {};
}

std::string ReportDialectList() {
  std::string out;
  for (const report::NamedReportDialect& dialect : report::ReportDialects()) {
    std::string line(dialect.name);
    if (!dialect.aliases.empty()) {
      line.resize(std::max<size_t>(line.size() + 2, 16), ' ');
      line += "also " + std::string(dialect.aliases);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace stowplan::page
