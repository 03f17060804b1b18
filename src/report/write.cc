// SPDX-License-Identifier: Apache-2.0
#include "report/write.h"

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "hlo/number.h"
#include "report/derive.h"
#include "report/write_parts.h"

namespace stowplan::report {

using hlo::AppendNumber;
using hlo::AppendNumbers;

void AppendIndex(const Report& report, const Index& index, std::string& out) {
  out += '{';
  AppendNumbers(report.numbers(index), ",", out);
  out += '}';
}

void AppendValueName(const Report& report, const Value& value, std::string& out) {
  out += '<';
  AppendNumber(value.number, out);
  out.append(" ").append(value.instruction);
  if (value.index.is_shown) AppendIndex(report, value.index, out);
  if (value.is_phi) out += " (phi)";
  if (value.color >= 0) {
    out += " @";
    AppendNumber(value.color, out);
  }
  out += '>';
}

void AppendAllocation(const Report& report, const Allocation& allocation,
                      const ReportDialect& dialect, std::string_view size, std::string& out) {
  out += "allocation ";
  AppendNumber(allocation.number, out);
  out += ": ";
  if (dialect.address && allocation.address) {
    char buffer[20];
    const std::to_chars_result end =
        std::to_chars(buffer, buffer + sizeof(buffer), *allocation.address, 16);
    out.append("0x").append(buffer, end.ptr).append(", ");
  }
  out.append("size ").append(size);
  if (allocation.color != 0) {
    out += ", color ";
    AppendNumber(allocation.color, out);
  }
  if (dialect.page && allocation.page.value_or(0) >= 0) {
    out += ", page ";
    AppendNumber(allocation.page.value_or(0), out);
  }
  if (allocation.parameter) {
    out += ", parameter ";
    AppendNumber(*allocation.parameter, out);
    out.append(", shape |").append(allocation.parameter_shape).append("| at ShapeIndex ");
    AppendIndex(report, allocation.parameter_index, out);
  }
  if (allocation.output_shape)
    out.append(", output shape is |").append(*allocation.output_shape).append("|");
  if (allocation.is_constant) out += ", constant";
  if (allocation.is_thread_local) out += ", thread-local";
  if (allocation.is_maybe_live_out) out += ", maybe-live-out";
  if (allocation.is_temp()) out += ", preallocated-temp";
  out += ":\n";
}

namespace {

void AppendPlace(const Report& report, const Value& value, std::string& out) {
  out += " value: ";
  AppendValueName(report, value, out);
  out += " (size=";
  AppendNumber(value.size, out);
  out += ",offset=";
  AppendNumber(value.offset, out);
  out.append("): ").append(value.shape).append("\n");
}

void AppendUses(const Report& report, const Value& value, const ReportDialect& dialect,
                std::string& out) {
  if (!value.has_uses) {
    out += " uses are not initialized yet.\n";
    return;
  }
  out += " uses:\n";
  for (const Use& use : report.uses_of(value)) {
    out.append("  ").append(use.instruction).append(", operand ");
    AppendNumber(use.operand, out);
    if (use.index.is_shown) {
      out += ' ';
      AppendIndex(report, use.index, out);
    }
    out += '\n';
  }
  if (value.uses.count == 0 && dialect.none_uses) out += "  (none)\n";
}

void AppendListedValue(const Report& report, const Value& value, const ReportDialect& dialect,
                       std::string& out) {
  AppendValueName(report, value, out);
  out += "\n positions:\n";
  for (const Position& position : report.positions_of(value)) {
    out.append("  ").append(position.instruction);
    if (position.index.is_shown) {
      out += ' ';
      AppendIndex(report, position.index, out);
    }
    out += '\n';
  }
  AppendUses(report, value, dialect, out);
  switch (dialect.from_instruction) {
    case FromInstruction::kAbsent:
      break;
    case FromInstruction::kTight:
      out.append(" from instruction:").append(value.instruction_text).append("\n");
      break;
    case FromInstruction::kGlued:
      out.append(" from instruction: ").append(value.instruction_text);
      break;
    case FromInstruction::kLine:
      out.append(" from instruction: ").append(value.instruction_text).append("\n");
      break;
  }
}

void AppendSequence(const LiveRanges& ranges, std::string& out) {
  // The schedule ends after its last instruction.
  out += "HloLiveRange (max ";
  AppendNumber(static_cast<int64_t>(ranges.sequence.size()), out);
  out += "):\n  InstructionSequence:\n";
  for (size_t i = 0; i < ranges.sequence.size(); ++i) {
    out += "    ";
    AppendNumber(static_cast<int64_t>(i), out);
    out.append(":").append(ranges.sequence[i]).append("\n");
  }
}

void AppendPeak(const Report& report, const ReportDialect& dialect, std::string& out) {
  const LiveRanges& ranges = *report.live_ranges;
  if (ranges.is_unbounded) {
    out += "  Peak memory could not be determined due to unbounded dynamic shape.\n";
    return;
  }
  std::optional<XlaPeak> peak =
      ComputeXlaPeak(report, ComputePlainSizes(report), dialect.peak_line);
  // Without shapes, what the file says is all there is.
  if (!peak) peak = XlaPeak{.time = ranges.peak_time.value_or(0), .rows = ranges.peak};
  out += "  Live ranges at ";
  AppendNumber(peak->time, out);
  out += " (peak):\n";
  int64_t sum = 0;
  for (const PeakRow& row : peak->rows) {
    sum = SaturatingAdd(sum, row.bytes);
    out.append("    ").append(row.instruction);
    if (dialect.peak_line != PeakLine::kName) AppendIndex(report, row.index, out);
    out += ": ";
    AppendNumber(row.bytes, out);
    out += " bytes";
    if (dialect.peak_line == PeakLine::kCumulative) {
      out += " (cumulative: ";
      AppendNumber(sum, out);
      out += " bytes)";
    }
    out += '\n';
  }
}

}  // namespace

namespace {

std::string WritePlaces(const Report& report, const ReportDialect& dialect) {
  std::string out = "BufferAssignment:\n";
  for (const Allocation& allocation : report.allocations.rows()) {
    AppendAllocation(report, allocation, dialect, std::to_string(allocation.size), out);
    for (const ValueId id : allocation.values) AppendPlace(report, report.values[id], out);
    if (allocation.other_colors.empty()) continue;
    out += " reused by buffers of a different color:\n";
    for (const ValueId id : allocation.other_colors) {
      out += "  value: ";
      AppendValueName(report, report.values[id], out);
      out += " (color=";
      AppendNumber(report.values[id].color, out);
      out += ")\n";
    }
  }
  return out;
}

}  // namespace

std::string WriteValueList(const Report& report, const ReportDialect& dialect) {
  std::string out = "\nTotal bytes used: ";
  const int64_t total = report.has_assignment ? TotalBytes(report) : report.said_total.value_or(0);
  AppendNumber(total, out);
  if (dialect.human_total) out.append(" (").append(HumanBytes(total)).append(")");
  out += "\n\nUsed values:\n";
  for (const ValueId id : report.value_list)
    AppendListedValue(report, report.values[id], dialect, out);
  return out;
}

std::string WriteLiveRanges(const Report& report, const ReportDialect& dialect) {
  const LiveRanges& ranges = *report.live_ranges;
  std::string out;
  if (ranges.is_unavailable)
    return "HloLiveRange not available (finalized or constructed from proto)";
  AppendSequence(ranges, out);
  out += "  BufferLiveRange:\n";
  for (const ValueId id : ranges.values) {
    const Value& value = report.values[id];
    out.append("    ").append(value.instruction);
    AppendIndex(report, value.index, out);
    out += ':';
    AppendNumber(value.start, out);
    out += '-';
    AppendNumber(value.end, out);
    out += '\n';
  }
  AppendPeak(report, dialect, out);
  if (dialect.stack_tree && ranges.has_tree) AppendTree(ranges, out);
  return out;
}

std::string WriteParts(const Report& report, const ReportDialect& dialect, const Parts& parts) {
  std::string out;
  // XLA ends what comes before the live ranges with two newlines; where that text has none of its
  // own at its end, one empty line remains of them.
  const auto append = [&](const std::string& part) {
    if (!out.empty() && !part.empty()) out += "\n\n";
    out += part;
  };
  if (parts.assignment && report.has_assignment) out += WritePlaces(report, dialect);
  // It begins with an empty line.
  if (parts.value_list && report.has_value_list) out += WriteValueList(report, dialect);
  if (parts.live_ranges && report.live_ranges && dialect.peak_line != PeakLine::kNone)
    append(WriteLiveRanges(report, dialect));
  if (parts.usage && report.usage && dialect.usage != UsageReport::kNone)
    append(WriteUsage(report, dialect));
  return out;
}

std::string WriteCombined(const Report& report, const ReportDialect& dialect) {
  return WriteParts(report, dialect, report.parts());
}

std::string WriteAssignment(const Report& report, const ReportDialect& dialect) {
  const bool is_combined = !dialect.separate_files;
  return WriteParts(report, dialect,
                    {.assignment = true, .value_list = is_combined, .live_ranges = is_combined});
}

std::string WriteFile(const Report& report, const Source& source) {
  return WriteParts(report, report.dialect, PartsIn(report, source));
}

}  // namespace stowplan::report
