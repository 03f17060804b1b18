// SPDX-License-Identifier: Apache-2.0
#include "page/report_json.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json_writer.h"
#include "report/json.h"
#include "report/summary.h"

namespace stowplan::page {
namespace {

using report::AllocationKind;

// A key of JSON, and the head of a column.
std::string_view Key(AllocationKind kind) {
  return kind == AllocationKind::kThreadLocal ? "thread_local" : report::Name(kind);
}

int64_t BytesOf(const std::vector<report::KindTotal>& kinds, AllocationKind kind) {
  const auto row = std::ranges::find(kinds, kind, &report::KindTotal::kind);
  return row == kinds.end() ? 0 : row->bytes;
}

constexpr std::array kKinds = {AllocationKind::kParameter, AllocationKind::kAliased,
                               AllocationKind::kOutput,    AllocationKind::kTemporary,
                               AllocationKind::kConstant,  AllocationKind::kThreadLocal};

void WriteKinds(const std::vector<report::KindTotal>& kinds, JsonWriter& json) {
  json.BeginObject("kinds");
  for (const AllocationKind kind : kKinds) json.Field(Key(kind), BytesOf(kinds, kind));
  json.End();
}

void WritePeak(std::string_view key, const report::Peak& peak, JsonWriter& json) {
  json.BeginObject(key);
  json.Field("bytes", peak.bytes);
  json.Field("time", peak.time);
  json.End();
}

void WriteSummary(const report::Summary& summary, report::Backend backend, JsonWriter& json) {
  json.Field("bytes", summary.bytes);
  json.Field("allocations", summary.allocations);
  json.Field("values", summary.values);
  WriteKinds(summary.kinds, json);
  if (summary.peak) WritePeak("peak", summary.peak->all, json);
  if (summary.printed_peak) {
    json.BeginObject("printed_peak");
    json.Field("bytes", summary.printed_peak->bytes);
    json.Field("time", summary.printed_peak->time);
    json.Field("values", summary.printed_peak->values);
    json.End();
  }
  json.BeginArray("spaces");
  for (const report::SpaceTotal& space : summary.spaces) {
    json.BeginObject();
    json.Field("color", space.color);
    const std::string_view name = report::SpaceName(backend, space.color);
    if (!name.empty()) json.Field("name", name);
    json.Field("bytes", space.bytes);
    json.Field("allocations", space.allocations);
    WriteKinds(space.kinds, json);
    if (space.peak) WritePeak("peak", *space.peak, json);
    json.End();
  }
  json.End();
}

// The fullest moment of each allocation.
void WriteLoads(const std::vector<report::Peak>& loads, JsonWriter& json) {
  json.BeginArray("loads");
  for (const report::Peak& load : loads) {
    json.BeginObject();
    json.Field("bytes", load.bytes);
    json.Field("time", load.time);
    json.End();
  }
  json.End();
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string ReportJson(const report::Report& report, const report::Summary& summary,
                       report::Backend backend, bool is_made) {
  return report::WriteJson(report, [&](JsonWriter& json) {
    if (is_made) json.Field("plan", "made");
    json.BeginObject("summary");
    WriteSummary(summary, backend, json);
    if (summary.peak) WriteLoads(summary.peak->allocations, json);
    json.End();
  });
}

std::string ModulesJson(const CountedModules& counted, int64_t other_files) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.modules/1");
  json.BeginArray("modules");
  for (const CountedModule& row : counted.modules) {
    json.BeginObject();
    json.Field("name", std::string_view(row.input.name));
    if (!row.input.stage.empty()) json.Field("stage", std::string_view(row.input.stage));
    json.Field("plan", row.is_made ? "made" : "given");
    json.Field("findings", static_cast<int64_t>(row.findings));
    WriteSummary(row.summary, row.backend, json);
    json.End();
  }
  json.End();
  json.BeginArray("left_out");
  for (const Leftover& leftover : counted.leftovers) {
    json.BeginObject();
    json.Field("path", std::string_view(leftover.path));
    json.Field("reason", std::string_view(leftover.reason));
    json.End();
  }
  json.End();
  json.Field("other_files", other_files);
  json.End();
  return out;
}

std::string ModulesCsv(const CountedModules& counted) {
  std::string out = "module,stage,bytes";
  for (const AllocationKind kind : kKinds) out += "," + std::string(Key(kind));
  out += ",peak_bytes,peak_time,printed_peak_bytes,printed_peak_time\n";
  for (const CountedModule& row : counted.modules) {
    out += CsvField(row.input.name) + "," + CsvField(row.input.stage) + "," +
           std::to_string(row.summary.bytes);
    for (const AllocationKind kind : kKinds) {
      out += "," + std::to_string(BytesOf(row.summary.kinds, kind));
    }
    const auto& peak = row.summary.peak;
    const auto& printed = row.summary.printed_peak;
    out += peak ? "," + std::to_string(peak->all.bytes) + "," + std::to_string(peak->all.time)
                : std::string(",,");
    out += printed ? "," + std::to_string(printed->bytes) + "," + std::to_string(printed->time)
                   : std::string(",,");
    out += "\n";
  }
  return out;
}

}  // namespace stowplan::page
