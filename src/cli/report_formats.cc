// SPDX-License-Identifier: Apache-2.0
#include "cli/report_formats.h"

#include "base/human_bytes.h"
#include "cli/plan_setting.h"
#include "cli/report_dialect.h"
#include "cli/report_json.h"
#include "cli/report_text.h"
#include "report/csv.h"
#include "report/from_proto.h"
#include "report/json.h"
#include "report/minimalloc.h"
#include "report/summary.h"
#include "report/to_proto.h"
#include "report/write.h"

namespace stowplan::cli {
namespace {

using report::FileKind;

// A command's answer: a text, or a message and nothing.
std::optional<std::string> Refuse(Listener& listener, const std::string& message,
                                  const std::string& hint = {}) {
  listener.ShowError(message, hint);
  return std::nullopt;
}

std::optional<FileKind> PartNamed(std::string_view name) {
  if (name == "assignment") return FileKind::kAssignment;
  if (name == "values") return FileKind::kValueList;
  if (name == "live-range") return FileKind::kLiveRanges;
  if (name == "usage") return FileKind::kUsage;
  return std::nullopt;
}

std::optional<std::string> XlaText(const LoadedModule& loaded, const ReportOptions& options,
                                   Listener& listener) {
  const report::Report& report = loaded.report;
  report::ReportDialect dialect = report.dialect;
  std::vector<FileKind> parts;
  if (const std::optional<FileKind> part = PartNamed(options.part)) {
    parts.push_back(*part);
  } else if (options.dialect.empty() && !loaded.sources.empty()) {
    for (const auto& source : loaded.sources) parts.push_back(report::KindOf(*source));
  }
  if (!options.dialect.empty()) {
    dialect = *report::FindReportDialect(options.dialect);
  }
  if (parts.empty()) parts = PartsOf(report, dialect);
  const std::vector<std::string> missing = MissingFacts(report, dialect, parts);
  if (!missing.empty()) {
    std::string list;
    for (const std::string& fact : missing) list += (list.empty() ? "" : ", ") + fact;
    return Refuse(listener, "the input does not tell what this dialect writes: " + list,
                  "--part=NAME writes only one of the files");
  }
  if (!options.dialect.empty() && InstructionTextsDiffer(report, options.dialect)) {
    Diagnostics warning = Fail("stowplan", "the texts of instructions stay as they are; " +
                                               options.dialect + " writes operands otherwise")
                              .error();
    warning[0].severity = Severity::kWarning;
    listener.Show(warning);
  }
  std::string out;
  for (const FileKind part : parts) out += WritePart(report, dialect, part);
  return out;
}

std::optional<std::string> CsvText(const report::Report& report, const ReportOptions& options,
                                   Listener& listener) {
  const report::CsvTable table = *report::FindCsvTable(options.table);
  if (report::HasCsvTable(report, table)) return report::WriteCsv(report, table);
  std::string others;
  for (const report::NamedCsvTable& named : report::CsvTables()) {
    if (!report::HasCsvTable(report, named.table)) continue;
    others += (others.empty() ? "it has: " : ", ") + std::string(named.name);
  }
  return Refuse(listener, "the input has nothing for the table `" + options.table + "`", others);
}

// The allocation that --allocation names; by default the largest heap.
report::AllocationId ChooseAllocation(const report::Report& report, const std::string& number) {
  report::AllocationId best;
  for (size_t i = 0; i < report.allocations.size(); ++i) {
    const report::AllocationId id(i);
    const report::Allocation& allocation = report.allocations[id];
    if (!number.empty()) {
      if (std::to_string(allocation.number) == number) return id;
    } else if (allocation.is_temp() &&
               (best.is_none() || allocation.size > report.allocations[best].size)) {
      best = id;
    }
  }
  return best;
}

std::optional<std::string> MinimallocText(const LoadedModule& loaded, const ReportOptions& options,
                                          Listener& listener) {
  const report::Report& report = loaded.report;
  if (!report::HasPeak(report)) {
    return Refuse(listener, "packing needs an assignment and live ranges",
                  "give the -live-range.txt too, or the directory and --module");
  }
  if (const Result<report::TruePeak> peak = report::ComputeTruePeak(report); !peak) {
    listener.Show(peak.error());
    return std::nullopt;
  }
  const report::AllocationId id = ChooseAllocation(report, options.allocation);
  if (id.is_none()) {
    return Refuse(listener, options.allocation.empty()
                                ? "there is no allocation of temporaries"
                                : "there is no allocation " + options.allocation);
  }
  // Only the proto tells which values XLA keeps in one buffer.
  std::vector<report::SharedBuffer> shared;
  if (loaded.program && loaded.program->buffer_assignment.size != 0) {
    Result<std::vector<report::SharedBuffer>> found =
        report::SharedBuffersFromModule(*loaded.program);
    if (found) shared = *std::move(found);
  }
  const report::PackingInstance instance = report::BuildPackingInstance(report, id, shared);
  if (instance.values_left_out != 0) {
    listener.Note("stowplan: left out " + CountOf(instance.values_left_out, "value") +
                  " without a live range\n");
  }
  return report::WriteMinimalloc(instance, report::PackingOffsets::kWrite);
}

std::optional<std::string> ProtoBytes(const LoadedModule& loaded, Listener& listener) {
  if (!loaded.program) {
    return Refuse(listener, "a BufferAssignmentProto names instructions by the ids of a module",
                  "give the module's .hlo.pb too");
  }
  Result<std::string> bytes = report::WriteBufferAssignmentProto(loaded.report, *loaded.program);
  if (bytes) return *std::move(bytes);
  listener.Show(bytes.error());
  return std::nullopt;
}

std::optional<std::string> TextOrJson(const LoadedModule& loaded, const ReportOptions& options,
                                      Listener& listener) {
  if (!loaded.report.has_assignment && options.format == ReportFormat::kJson) {
    return report::WriteJson(loaded.report);
  }
  if (!loaded.report.has_assignment) {
    return Refuse(listener, "there is no buffer assignment among the files",
                  "--format=xla, json and csv do without; a page needs -buffer-assignment.txt");
  }
  const Result<report::Summary> summary = report::Summarize(loaded.report);
  if (!summary) {
    listener.Show(summary.error());
    return std::nullopt;
  }
  PageOptions page = PageOptionsFor(loaded.name, loaded.report, options.target);
  page.limit = options.limit.value_or(10);
  page.min_size = options.min_size;
  page.sort = options.sort;
  page.is_ours = loaded.is_ours;
  if (options.format == ReportFormat::kJson) {
    return ReportJson(loaded.report, *summary, page.backend, loaded.is_ours);
  }
  if (options.is_reconcile) {
    std::optional<Temporaries> temporaries;
    if (loaded.program && page.backend != report::Backend::kCpu) {
      temporaries = FindTemporaries(*loaded.program,
                                    {.file = loaded.name, .target = options.target}, loaded.report);
    }
    return ReconcilePage(loaded.report, *summary, temporaries, page);
  }
  return ReportPage(loaded.report, *summary, loaded.program ? &*loaded.program : nullptr, page);
}

}  // namespace

PageOptions PageOptionsFor(const std::string& name, const report::Report& report,
                           const std::string& target) {
  PageOptions page{.title = name};
  if (target.empty()) {
    page.backend = report::GuessBackend(report);
  } else {
    page.backend = report::BackendOfTarget(target);
    page.backend_reason = target.starts_with("tpu-") ? target.substr(4) : "";
  }
  return page;
}

std::optional<std::string> TextFor(const LoadedModule& loaded, const ReportOptions& options,
                                   Listener& listener) {
  switch (options.format) {
    case ReportFormat::kXla:
      return XlaText(loaded, options, listener);
    case ReportFormat::kCsv:
      return CsvText(loaded.report, options, listener);
    case ReportFormat::kMinimalloc:
      return MinimallocText(loaded, options, listener);
    case ReportFormat::kProto:
      return ProtoBytes(loaded, listener);
    case ReportFormat::kJson:
    case ReportFormat::kText:
      break;
  }
  return TextOrJson(loaded, options, listener);
}

}  // namespace stowplan::cli
