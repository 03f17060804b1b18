// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <array>
#include <charconv>

#include "report/derive.h"
#include "report/usage.h"

namespace stowplan::report {
namespace {

std::string_view NameOf(FromInstruction form) {
  switch (form) {
    case FromInstruction::kAbsent:
      return "absent";
    case FromInstruction::kTight:
      return "tight";
    case FromInstruction::kGlued:
      return "glued";
    case FromInstruction::kLine:
      break;
  }
  return "line";
}

std::string_view NameOf(PeakLine form) {
  switch (form) {
    case PeakLine::kNone:
      return "none";
    case PeakLine::kName:
      return "name";
    case PeakLine::kIndex:
      return "index";
    case PeakLine::kCumulative:
      break;
  }
  return "cumulative";
}

std::string_view NameOf(UsageReport form) {
  switch (form) {
    case UsageReport::kNone:
      return "none";
    case UsageReport::kHashOrder:
      return "hash-order";
    case UsageReport::kSorted:
      return "sorted";
    case UsageReport::kSpaces:
      break;
  }
  return "spaces";
}

class ReportJson {
 public:
  ReportJson(const Report& report, std::string& out) : report_(report), json_(out) {}

  void Write(const std::function<void(JsonWriter&)>& add_fields) {
    json_.BeginObject();
    json_.Field("schema", kJsonSchema);
    if (!report_.name.empty()) json_.Field("module", std::string_view(report_.name));
    WriteDialect();
    if (report_.has_assignment) {
      json_.Field("total_bytes", TotalBytes(report_));
      json_.BeginArray("allocations");
      for (const Allocation& allocation : report_.allocations.rows()) WriteAllocation(allocation);
      json_.End();
    }
    json_.BeginArray("values");
    for (const Value& value : report_.values.rows()) WriteValue(value);
    json_.End();
    if (report_.live_ranges) WriteLiveRanges(*report_.live_ranges);
    if (report_.has_assignment)
      WriteComputedUsage();
    else if (report_.usage)
      WriteReadUsage(*report_.usage);
    if (add_fields) add_fields(json_);
    json_.End();
  }

 private:
  void WriteDialect() {
    const ReportDialect& dialect = report_.dialect;
    json_.BeginObject("dialect");
    json_.Field("address", dialect.address);
    json_.Field("page", dialect.page);
    json_.Field("human_total", dialect.human_total);
    json_.Field("from_instruction", NameOf(dialect.from_instruction));
    json_.Field("none_uses", dialect.none_uses);
    json_.Field("peak_line", NameOf(dialect.peak_line));
    json_.Field("stack_tree", dialect.stack_tree);
    json_.Field("separate_files", dialect.separate_files);
    json_.Field("parameter_parts", dialect.parameter_parts);
    json_.Field("usage", NameOf(dialect.usage));
    json_.End();
  }

  void WriteIndex(std::string_view key, const Index& index) {
    json_.BeginArray(key);
    for (const int64_t n : report_.numbers(index)) json_.Value(n);
    json_.End();
  }

  void WriteRows(std::string_view key, const std::vector<ValueId>& values) {
    json_.BeginArray(key);
    for (const ValueId id : values) json_.Value(static_cast<int64_t>(id.index));
    json_.End();
  }

  void WriteAllocation(const Allocation& allocation) {
    json_.BeginObject();
    json_.Field("number", allocation.number);
    json_.Field("size", allocation.size);
    json_.Field("color", allocation.color);
    if (allocation.address) {
      // As text: not every reader of JSON keeps 64 bits.
      std::array<char, 20> hex{};
      const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), *allocation.address, 16);
      const std::string text = "0x" + std::string(hex.data(), end.ptr);
      json_.Field("address", std::string_view(text));
    }
    if (allocation.page) json_.Field("page", *allocation.page);
    if (allocation.parameter) {
      json_.BeginObject("parameter");
      json_.Field("number", *allocation.parameter);
      if (!allocation.parameter_shape.empty()) json_.Field("shape", allocation.parameter_shape);
      WriteIndex("index", allocation.parameter_index);
      json_.End();
    }
    if (allocation.output_shape) json_.Field("output_shape", *allocation.output_shape);
    json_.Field("is_constant", allocation.is_constant);
    json_.Field("is_thread_local", allocation.is_thread_local);
    json_.Field("is_maybe_live_out", allocation.is_maybe_live_out);
    json_.Field("is_temp", allocation.is_temp());
    WriteRows("values", allocation.values);
    if (!allocation.other_colors.empty()) WriteRows("other_colors", allocation.other_colors);
    json_.End();
  }

  void WriteValue(const Value& value) {
    json_.BeginObject();
    if (value.number >= 0) json_.Field("number", value.number);
    json_.Field("instruction", value.instruction);
    WriteIndex("index", value.index);
    if (value.is_phi) json_.Field("is_phi", true);
    if (value.color >= 0) json_.Field("color", value.color);
    if (!value.allocation.is_none()) {
      json_.Field("allocation", static_cast<int64_t>(value.allocation.index));
      json_.Field("size", value.size);
      json_.Field("offset", value.offset);
    }
    if (!value.shape.empty()) json_.Field("shape", value.shape);
    if (value.positions.count != 0) {
      json_.BeginArray("positions");
      for (const Position& position : report_.positions_of(value)) {
        json_.BeginObject();
        json_.Field("instruction", position.instruction);
        WriteIndex("index", position.index);
        json_.End();
      }
      json_.End();
    }
    if (value.has_uses) {
      json_.BeginArray("uses");
      for (const Use& use : report_.uses_of(value)) {
        json_.BeginObject();
        json_.Field("instruction", use.instruction);
        json_.Field("operand", use.operand);
        WriteIndex("index", use.index);
        json_.End();
      }
      json_.End();
    }
    if (!value.instruction_text.empty()) json_.Field("instruction_text", value.instruction_text);
    if (value.has_range) {
      json_.BeginObject("live_range");
      json_.Field("start", value.start);
      json_.Field("end", value.end);
      json_.End();
    }
    json_.End();
  }

  void WriteLiveRanges(const LiveRanges& ranges) {
    json_.BeginObject("live_ranges");
    if (ranges.is_unavailable) {
      json_.Field("is_unavailable", true);
      json_.End();
      return;
    }
    json_.Field("end", ranges.end);
    json_.BeginArray("sequence");
    for (const std::string_view name : ranges.sequence) json_.Value(name);
    json_.End();
    WriteRows("values", ranges.values);
    if (ranges.is_unbounded) json_.Field("is_unbounded", true);
    if (ranges.peak_time) {
      json_.BeginObject("peak");
      json_.Field("time", *ranges.peak_time);
      json_.BeginArray("rows");
      for (const PeakRow& row : ranges.peak) {
        json_.BeginObject();
        json_.Field("instruction", row.instruction);
        WriteIndex("index", row.index);
        json_.Field("bytes", row.bytes);
        json_.End();
      }
      json_.End();
      json_.End();
    }
    if (ranges.has_tree) {
      json_.BeginArray("tree");
      for (const TreeNode& node : ranges.tree) {
        json_.BeginObject();
        json_.Field("depth", static_cast<int64_t>(node.depth));
        json_.Field("name", node.name);
        json_.Field("bytes", node.current);
        json_.End();
      }
      json_.End();
    }
    json_.End();
  }

  void WriteShapes(const std::vector<UsageShape>& shapes) {
    json_.BeginArray("shapes");
    for (const UsageShape& shape : shapes) {
      json_.BeginObject();
      json_.Field("count", shape.count);
      json_.Field("shape", shape.shape);
      json_.End();
    }
    json_.End();
  }

  void WriteComputedUsage() {
    UsageComputer computer(report_, UsageOrder::kFixed);
    json_.BeginObject("usage");
    json_.Field("is_computed", true);
    json_.BeginArray("tables");
    for (const AllocationId id : computer.SortedAllocations(std::nullopt)) {
      const Allocation& allocation = report_.allocations[id];
      const UsageGroups table = computer.Compute(allocation);
      json_.BeginObject();
      json_.Field("allocation", allocation.number);
      json_.Field("color", allocation.color);
      json_.BeginArray("rows");
      for (const UsageGroup& group : table.groups) {
        json_.BeginObject();
        json_.Field("offset", group.offset);
        json_.Field("size", group.size);
        json_.Field("value_count", group.value_count);
        WriteShapes(group.shapes);
        json_.End();
      }
      json_.End();
      json_.End();
    }
    json_.End();
    json_.End();
  }

  // Without an assignment, sizes are known only as people read them.
  void WriteReadUsage(const Usage& usage) {
    json_.BeginObject("usage");
    json_.Field("is_computed", false);
    json_.BeginArray("tables");
    for (const UsageTable& table : usage.tables) {
      json_.BeginObject();
      if (table.allocation >= 0) json_.Field("allocation", table.allocation);
      if (table.color >= 0) json_.Field("color", table.color);
      if (!table.head.empty()) json_.Field("head", table.head);
      json_.BeginArray("rows");
      for (const UsageRow& row : table.rows) {
        json_.BeginObject();
        json_.Field("offset", row.offset);
        json_.Field("size_text", row.size);
        json_.Field("value_count", row.value_count);
        WriteShapes(row.shapes);
        json_.End();
      }
      json_.End();
      if (table.hidden_rows > 0) json_.Field("hidden_rows", table.hidden_rows);
      json_.End();
    }
    json_.End();
    json_.End();
  }

  const Report& report_;
  JsonWriter json_;
};

}  // namespace

std::string WriteJson(const Report& report, const std::function<void(JsonWriter&)>& add_fields) {
  std::string out;
  ReportJson(report, out).Write(add_fields);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace stowplan::report
