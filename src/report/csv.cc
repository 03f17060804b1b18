// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/csv_writer.h"
#include "report/usage.h"
#include "report/write_parts.h"

namespace stowplan::report {
namespace {

constexpr std::array<NamedCsvTable, 8> kTables = {{
    {"allocations", CsvTable::kAllocations},
    {"values", CsvTable::kValues},
    {"positions", CsvTable::kPositions},
    {"uses", CsvTable::kUses},
    {"ranges", CsvTable::kRanges},
    {"peak", CsvTable::kPeak},
    {"tree", CsvTable::kTree},
    {"usage", CsvTable::kUsage},
}};

class ReportCsv : public CsvWriter {
 public:
  ReportCsv(const Report& report, std::string_view columns) : CsvWriter(columns), report_(report) {}

  // XLA has no negative numbers for what it counts; -1 is "not known".
  void KnownNumber(int64_t n) {
    if (n >= 0)
      Number(n);
    else
      Nothing();
  }
  void Place(const Index& index) {
    std::string text;
    AppendIndex(report_, index, text);
    Text(text);
  }

 private:
  const Report& report_;
};

std::string WriteAllocationsCsv(const Report& report) {
  ReportCsv csv(
      report,
      "number,size,color,address,page,parameter,parameter_shape,parameter_index,output_shape,"
      "is_constant,is_thread_local,is_maybe_live_out,is_temp,value_count");
  for (const Allocation& allocation : report.allocations.rows()) {
    csv.Number(allocation.number);
    csv.Number(allocation.size);
    csv.Number(allocation.color);
    if (allocation.address) {
      std::array<char, 20> hex{};
      const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), *allocation.address, 16);
      csv.Text("0x" + std::string(hex.data(), end.ptr));
    } else {
      csv.Nothing();
    }
    csv.Number(allocation.page);
    csv.Number(allocation.parameter);
    csv.Text(allocation.parameter_shape);
    if (allocation.parameter)
      csv.Place(allocation.parameter_index);
    else
      csv.Nothing();
    csv.Text(allocation.output_shape.value_or(std::string_view()));
    csv.Flag(allocation.is_constant);
    csv.Flag(allocation.is_thread_local);
    csv.Flag(allocation.is_maybe_live_out);
    csv.Flag(allocation.is_temp());
    csv.Number(static_cast<int64_t>(allocation.values.size()));
    csv.EndRow();
  }
  return std::move(csv).Take();
}

std::string WriteValues(const Report& report) {
  ReportCsv csv(report,
                "number,instruction,index,is_phi,color,allocation,size,offset,shape,start,end,"
                "position_count,use_count,instruction_text");
  for (const Value& value : report.values.rows()) {
    csv.KnownNumber(value.number);
    csv.Text(value.instruction);
    csv.Place(value.index);
    csv.Flag(value.is_phi);
    csv.KnownNumber(value.color);
    const bool is_placed = !value.allocation.is_none();
    const auto known = [](bool is_known, int64_t n) {
      return is_known ? std::optional(n) : std::nullopt;
    };
    csv.Number(known(is_placed, is_placed ? report.allocations[value.allocation].number : 0));
    csv.Number(known(is_placed, value.size));
    csv.Number(known(is_placed, value.offset));
    csv.Text(value.shape);
    csv.Number(known(value.has_range, value.start));
    csv.Number(known(value.has_range, value.end));
    csv.Number(known(value.positions.count != 0, value.positions.count));
    csv.Number(known(value.has_uses, value.uses.count));
    csv.Text(value.instruction_text);
    csv.EndRow();
  }
  return std::move(csv).Take();
}

std::string WritePositions(const Report& report) {
  ReportCsv csv(report, "value,instruction,index");
  for (const Value& value : report.values.rows()) {
    for (const Position& position : report.positions_of(value)) {
      csv.KnownNumber(value.number);
      csv.Text(position.instruction);
      csv.Place(position.index);
      csv.EndRow();
    }
  }
  return std::move(csv).Take();
}

std::string WriteUses(const Report& report) {
  ReportCsv csv(report, "value,instruction,operand,index");
  for (const Value& value : report.values.rows()) {
    for (const Use& use : report.uses_of(value)) {
      csv.KnownNumber(value.number);
      csv.Text(use.instruction);
      csv.Number(use.operand);
      csv.Place(use.index);
      csv.EndRow();
    }
  }
  return std::move(csv).Take();
}

std::string WriteRanges(const Report& report) {
  ReportCsv csv(report, "value,instruction,index,start,end");
  if (!report.live_ranges) return std::move(csv).Take();
  for (const ValueId id : report.live_ranges->values) {
    const Value& value = report.values[id];
    csv.KnownNumber(value.number);
    csv.Text(value.instruction);
    csv.Place(value.index);
    csv.Number(value.start);
    csv.Number(value.end);
    csv.EndRow();
  }
  return std::move(csv).Take();
}

std::string WritePeak(const Report& report) {
  ReportCsv csv(report, "time,instruction,index,bytes");
  if (report.live_ranges) {
    for (const PeakRow& row : report.live_ranges->peak) {
      csv.Number(report.live_ranges->peak_time);
      csv.Text(row.instruction);
      csv.Place(row.index);
      csv.Number(row.bytes);
      csv.EndRow();
    }
  }
  return std::move(csv).Take();
}

std::string WriteTree(const Report& report) {
  ReportCsv csv(report, "depth,name,bytes");
  if (report.live_ranges) {
    for (const TreeNode& node : report.live_ranges->tree) {
      csv.Number(node.depth);
      csv.Text(node.name);
      csv.Number(node.current);
      csv.EndRow();
    }
  }
  return std::move(csv).Take();
}

std::string ShapeList(const std::vector<UsageShape>& shapes) {
  std::string out;
  for (const UsageShape& shape : shapes) {
    if (!out.empty()) out += ", ";
    if (shape.count != 1) out += std::to_string(shape.count) + "×";
    out += shape.shape;
  }
  return out;
}

// In bytes where there is an assignment to compute from; else the file's words.
std::string WriteUsageRows(const Report& report) {
  ReportCsv csv(report, "allocation,color,offset,size,value_count,shapes");
  if (report.has_assignment) {
    UsageComputer computer(report, UsageOrder::kFixed);
    for (const AllocationId id : computer.SortedAllocations(std::nullopt)) {
      const Allocation& allocation = report.allocations[id];
      const UsageGroups table = computer.Compute(allocation);
      for (const UsageGroup& group : table.groups) {
        csv.Number(allocation.number);
        csv.Number(allocation.color);
        csv.Number(group.offset);
        csv.Number(group.size);
        csv.Number(group.value_count);
        csv.Text(ShapeList(group.shapes));
        csv.EndRow();
      }
    }
  } else if (report.usage) {
    for (const UsageTable& table : report.usage->tables) {
      for (const UsageRow& row : table.rows) {
        csv.KnownNumber(table.allocation);
        csv.KnownNumber(table.color);
        csv.Number(row.offset);
        csv.Text(row.size);
        csv.Number(row.value_count);
        csv.Text(ShapeList(row.shapes));
        csv.EndRow();
      }
    }
  }
  return std::move(csv).Take();
}

}  // namespace

std::span<const NamedCsvTable> CsvTables() { return kTables; }

std::optional<CsvTable> FindCsvTable(std::string_view name) {
  const auto* row = std::ranges::find(kTables, name, &NamedCsvTable::name);
  return row == kTables.end() ? std::nullopt : std::optional(row->table);
}

bool HasCsvTable(const Report& report, CsvTable table) {
  switch (table) {
    case CsvTable::kAllocations:
      return report.has_assignment;
    case CsvTable::kValues:
      return !report.values.empty();
    case CsvTable::kPositions:
      return !report.positions.empty();
    case CsvTable::kUses:
      return !report.uses.empty();
    case CsvTable::kRanges:
      return report.live_ranges && !report.live_ranges->values.empty();
    case CsvTable::kPeak:
      return report.live_ranges && !report.live_ranges->peak.empty();
    case CsvTable::kTree:
      return report.live_ranges && !report.live_ranges->tree.empty();
    case CsvTable::kUsage:
      break;
  }
  return report.has_assignment || report.usage;
}

std::string WriteCsv(const Report& report, CsvTable table) {
  switch (table) {
    case CsvTable::kAllocations:
      return WriteAllocationsCsv(report);
    case CsvTable::kValues:
      return WriteValues(report);
    case CsvTable::kPositions:
      return WritePositions(report);
    case CsvTable::kUses:
      return WriteUses(report);
    case CsvTable::kRanges:
      return WriteRanges(report);
    case CsvTable::kPeak:
      return WritePeak(report);
    case CsvTable::kTree:
      return WriteTree(report);
    case CsvTable::kUsage:
      break;
  }
  return WriteUsageRows(report);
}

}  // namespace stowplan::report
