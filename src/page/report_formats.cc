// SPDX-License-Identifier: Apache-2.0
#include "page/report_formats.h"

#include <utility>
#include <vector>

#include "base/human_bytes.h"
#include "page/report_dialect.h"
#include "page/report_json.h"
#include "page/text.h"
#include "report/from_proto.h"
#include "report/json.h"
#include "report/minimalloc.h"
#include "report/summary.h"
#include "report/to_proto.h"
#include "report/write.h"
#include "session/load.h"
#include "session/note.h"

namespace stowplan::page {
namespace {

Result<std::string> Refuse(std::string message, std::string hint = {}) {
  return Fail("stowplan", std::move(message), std::move(hint));
}

// The parts that --part names. If the dialect puts several parts into one file, all of them.
report::Parts PartsNamed(std::string_view name, const report::ReportDialect& dialect) {
  const bool is_assignment = name == "assignment";
  const bool is_combined = is_assignment && !dialect.separate_files;
  return {.assignment = is_assignment,
          .value_list = is_combined || name == "values",
          .live_ranges =
              name == "live-range" || (is_combined && dialect.peak_line != report::PeakLine::kNone),
          .usage = name == "usage"};
}

// The parts that the files have.
report::Parts PartsRead(const PlannedModule& planned) {
  report::Parts all;
  for (const std::shared_ptr<const Source>& source : planned.sources) {
    const report::Parts parts = report::PartsIn(*planned.report, *source);
    all = {.assignment = all.assignment || parts.assignment,
           .value_list = all.value_list || parts.value_list,
           .live_ranges = all.live_ranges || parts.live_ranges,
           .usage = all.usage || parts.usage};
  }
  return all;
}

Result<std::string> XlaText(const PlannedModule& planned, const ReportOptions& options,
                            Diagnostics& notes) {
  const report::Report& report = *planned.report;
  report::ReportDialect dialect = report.dialect;
  if (!options.dialect.empty()) dialect = *report::FindReportDialect(options.dialect);
  report::Parts parts = PartsOf(report, dialect);
  if (!options.part.empty()) {
    parts = PartsNamed(options.part, dialect);
  } else if (options.dialect.empty() && !planned.sources.empty()) {
    parts = PartsRead(planned);
  } else if (!options.dialect.empty() && parts.assignment) {
    // A release with one file for several parts always writes them all.
    const report::Parts file = PartsNamed("assignment", dialect);
    parts.value_list = parts.value_list || file.value_list;
    parts.live_ranges = parts.live_ranges || file.live_ranges;
  }
  const std::vector<std::string> missing = MissingFacts(report, dialect, parts);
  if (!missing.empty()) {
    std::string list;
    for (const std::string& fact : missing) list += (list.empty() ? "" : ", ") + fact;
    return Refuse("the input lacks what this dialect writes: " + list,
                  "--part=NAME writes only one of the files");
  }
  if (!options.dialect.empty() && InstructionTextsDiffer(report, options.dialect)) {
    Diagnostics warning = Fail("stowplan", "the texts of instructions stay as they are; " +
                                               options.dialect + " writes operands differently")
                              .error();
    warning[0].severity = Severity::kWarning;
    Append(std::move(warning), notes);
  }
  // The usage report follows from the assignment, so it can be written even if the input has none.
  return options.part == "usage" ? report::WriteUsage(report, dialect)
                                 : report::WriteParts(report, dialect, parts);
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

Result<std::string> MinimallocText(const PlannedModule& planned, const ReportOptions& options,
                                   Diagnostics& notes) {
  const report::Report& report = *planned.report;
  if (!report::HasPeak(report)) {
    return Refuse("packing needs an assignment and live ranges",
                  "also give the -live-range.txt, or the directory and --module");
  }
  STOWPLAN_TRY([[maybe_unused]] const report::TruePeak peak, report::ComputeTruePeak(report));
  const report::AllocationId id = ChooseAllocation(report, options.allocation);
  if (id.is_none()) {
    return Refuse(options.allocation.empty() ? "there is no allocation of temporaries"
                                             : "there is no allocation " + options.allocation);
  }
  // Only the proto says which values XLA keeps in one buffer.
  std::vector<report::SharedBuffer> shared;
  if (planned.module && planned.module->buffer_assignment.size != 0) {
    Result<std::vector<report::SharedBuffer>> found =
        report::SharedBuffersFromModule(*planned.module);
    if (found) shared = *std::move(found);
  }
  const report::PackingInstance instance = report::BuildPackingInstance(report, id, shared);
  if (instance.values_left_out != 0) {
    notes.push_back(
        Note("left out " + CountOf(instance.values_left_out, "value") + " without a live range"));
  }
  return report::WriteMinimalloc(instance, report::PackingOffsets::kWrite);
}

Result<std::string> ProtoBytes(const PlannedModule& planned) {
  if (!planned.module)
    return Refuse("a BufferAssignmentProto names instructions by the ids of a module",
                  "also give the module's .hlo.pb");
  return report::WriteBufferAssignmentProto(*planned.report, *planned.module);
}

Result<std::string> TextOrJson(const PlannedModule& planned, const ReportOptions& options) {
  const report::Report& report = *planned.report;
  if (!report.has_assignment && options.format == ReportFormat::kJson)
    return report::WriteJson(report);
  if (!report.has_assignment)
    return Refuse("there is no buffer assignment among the files",
                  "a page needs -buffer-assignment.txt; --format=xla, json and csv do not");
  STOWPLAN_TRY(const report::Summary summary, report::Summarize(report));
  std::string target = options.plan.target;
  if (planned.is_made() && planned.target) target = planned.target->name;
  PageOptions page = PageOptionsFor(planned.name, report, target);
  page.limit = options.limit.value_or(10);
  page.min_size = options.min_size;
  page.sort = options.sort;
  page.is_made = planned.is_made();
  page.speech = options.plan.speech;
  page.own = options.plan.own;
  if (options.format == ReportFormat::kJson)
    return ReportJson(report, summary, page.backend, planned.is_made());
  if (options.is_reconcile) {
    std::optional<Temporaries> temporaries;
    if (planned.module && page.backend != report::Backend::kCpu)
      temporaries = FindTemporaries(planned, options.plan);
    return ReconcilePage(report, summary, temporaries, page);
  }
  return ReportPage(report, summary, planned.module.get(), page);
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

Result<std::string> TextFor(const PlannedModule& planned, const ReportOptions& options,
                            Diagnostics& notes) {
  switch (options.format) {
    case ReportFormat::kXla:
      return XlaText(planned, options, notes);
    case ReportFormat::kCsv:
      return CsvOf(planned, options.table);
    case ReportFormat::kMinimalloc:
      return MinimallocText(planned, options, notes);
    case ReportFormat::kProto:
      return ProtoBytes(planned);
    case ReportFormat::kJson:
    case ReportFormat::kText:
      break;
  }
  return TextOrJson(planned, options);
}

}  // namespace stowplan::page
