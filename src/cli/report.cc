// SPDX-License-Identifier: Apache-2.0
// stowplan report: shows where the memory goes.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/human_bytes.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "page/dialect_list.h"
#include "page/module_list.h"
#include "page/report_dialect.h"
#include "page/report_formats.h"
#include "page/report_json.h"
#include "page/text.h"
#include "report/csv.h"
#include "session/check.h"
#include "session/choose_module.h"
#include "session/count_modules.h"
#include "session/load.h"
#include "session/note.h"

namespace stowplan::cli {
namespace {

using page::ReportFormat;
using page::ReportSort;

constexpr std::string_view kDefaultTable = "allocations";

struct ReportRequest {
  std::vector<std::string> inputs;
  page::ReportOptions options;
  std::string output;
  bool is_strict = false;
};

int WriteOut(const std::string& text, int code, const ReportRequest& request, Console& console) {
  const std::unique_ptr<Output> output = console.Open(request.output);
  if (output == nullptr) return kBadUse;
  output->Write(text);
  return console.Finish(*output, code);
}

int ReportOne(const InputModule& module, const ReportRequest& request, Console& console) {
  const page::ReportOptions& options = request.options;
  // The other formats are about the files themselves, so they show only what these contain.
  const bool is_page =
      options.format == ReportFormat::kText || options.format == ReportFormat::kJson;
  const bool has_neighbours = options.format != ReportFormat::kXla;
  std::optional<PlannedModule> planned = console.Take(
      has_neighbours ? LoadBeside(module, options.plan) : LoadAsIs(module, options.plan));
  if (!planned) return kBadUse;
  Diagnostics notes = planned->notes;
  const Diagnostics findings = FindingsOf(*planned->report, planned->sources);
  Append(findings, notes);
  if (is_page) planned = Completed(*std::move(planned), options.plan);
  const Result<std::string> text = page::TextFor(*planned, options, notes);
  console.Show(notes);
  if (!text) {
    console.Show(text.error());
    return kBadUse;
  }
  return WriteOut(*text, request.is_strict && !findings.empty() ? kFinding : kFine, request,
                  console);
}

int ReportMany(const Inputs& inputs, const ReportRequest& request, Console& console) {
  const page::ReportOptions& options = request.options;
  if (options.is_reconcile ||
      (options.format != ReportFormat::kText && options.format != ReportFormat::kJson &&
       options.format != ReportFormat::kCsv)) {
    console.ShowError("there are " +
                          CountOf(static_cast<int64_t>(inputs.modules.size()), "module") +
                          ", but this format needs one",
                      "--module=NAME chooses one; `stowplan report` lists them");
    return kBadUse;
  }
  CountedModules counted = CountGivenOrMade(inputs, options.plan);
  const auto is_made = [](const CountedModule& module) { return module.is_made; };
  if (!counted.modules.empty() && std::ranges::all_of(counted.modules, is_made))
    console.Note("note: no module has a plan, so each is planned as XLA does\n");
  console.Show(LeftoverWarnings(counted.leftovers), kMaxLeftovers);
  if (counted.modules.empty()) {
    const Diagnostic* const first = FirstError(counted.first_errors);
    console.ShowError("no module has a plan that can be read, and none can be planned",
                      first != nullptr ? first->hint : "");
    return kBadUse;
  }
  const bool has_findings =
      !counted.leftovers.empty() ||
      std::ranges::any_of(counted.modules, [](const auto& module) { return module.findings != 0; });
  const page::HiddenModules hidden =
      page::SelectModules(counted, {.limit = options.limit.value_or(SIZE_MAX),
                                    .min_size = options.min_size,
                                    .sort = options.sort});
  std::string text;
  if (options.format == ReportFormat::kJson) {
    text = page::ModulesJson(counted, inputs.other_files);
  } else if (options.format == ReportFormat::kCsv) {
    text = page::ModulesCsv(counted);
  } else {
    text = page::ModulesPage(counted, hidden,
                             request.inputs.size() == 1 ? request.inputs[0] : "the files given");
  }
  return WriteOut(text, request.is_strict && has_findings ? kFinding : kFine, request, console);
}

int Report(const ReportRequest& request, Console& console) {
  const std::optional<Inputs> opened = console.Take(Open(request.inputs));
  if (!opened) return kBadUse;
  const std::optional<Inputs> inputs = console.Take(ChooseModules(*opened, request.options.plan));
  if (!inputs) return kBadUse;
  if (inputs->modules.size() > 1) return ReportMany(*inputs, request, console);
  console.Show(LeftoverWarnings(inputs->leftovers), kMaxLeftovers);
  if (inputs->modules.empty()) {
    console.ShowError("there is no memory report in " + request.inputs[0],
                      "XLA_FLAGS=--xla_dump_to=DIR makes XLA write them");
    return kBadUse;
  }
  const int code = ReportOne(inputs->modules[0], request, console);
  return code == kFine && request.is_strict && !inputs->leftovers.empty() ? kFinding : code;
}

ReportFormat FormatNamed(std::string_view name) {
  if (name == "xla") return ReportFormat::kXla;
  if (name == "json") return ReportFormat::kJson;
  if (name == "csv") return ReportFormat::kCsv;
  if (name == "minimalloc") return ReportFormat::kMinimalloc;
  return name == "proto" ? ReportFormat::kProto : ReportFormat::kText;
}

ReportSort SortNamed(std::string_view name) {
  if (name == "size") return ReportSort::kSize;
  if (name == "peak") return ReportSort::kPeak;
  if (name == "name") return ReportSort::kName;
  return name == "time" ? ReportSort::kTime : ReportSort::kDefault;
}

bool CheckDialect(const std::string& name, Console& console) {
  if (name.empty() || report::FindReportDialect(name)) return true;
  std::vector<std::string_view> names;
  for (const auto& dialect : report::ReportDialects()) names.push_back(dialect.name);
  std::string hint = DidYouMean(name, names);
  if (hint.empty()) hint = "`stowplan report --dialect=list` shows them";
  console.ShowError("there is no dialect `" + name + "`", hint);
  return false;
}

int RunReport(const Arguments& arguments, Console& console) {
  ReportRequest request = {.inputs = arguments.positionals,
                           .options = {.format = FormatNamed(arguments.option("format")),
                                       .plan = PlanOptionsOf(arguments, console),
                                       .dialect = arguments.option("dialect"),
                                       .part = arguments.option("part"),
                                       .table = arguments.option("table"),
                                       .allocation = arguments.option("allocation"),
                                       .sort = SortNamed(arguments.option("sort")),
                                       .is_reconcile = arguments.flag("reconcile")},
                           .output = arguments.option("output"),
                           .is_strict = arguments.flag("strict")};
  page::ReportOptions& options = request.options;
  if (options.dialect == "list")
    return console.Print(page::DialectList(report::ReportDialects()), kFine);
  if (request.inputs.empty()) {
    console.ShowError("report needs an INPUT", "`stowplan report --help` shows its options");
    return kBadUse;
  }
  if (!CheckDialect(options.dialect, console)) return kBadUse;
  if (!options.dialect.empty() && options.format != ReportFormat::kXla) {
    console.ShowError("--dialect requires --format=xla");
    return kBadUse;
  }
  // An option of one format would have no effect on another.
  const auto is_vain = [&](std::string_view option, bool is_given, ReportFormat format,
                           std::string_view name) {
    if (!is_given || options.format == format) return false;
    console.ShowError("--" + std::string(option) + " requires --format=" + std::string(name));
    return true;
  };
  if (is_vain("part", !options.part.empty(), ReportFormat::kXla, "xla") ||
      is_vain("table", options.table != kDefaultTable, ReportFormat::kCsv, "csv") ||
      is_vain("allocation", !options.allocation.empty(), ReportFormat::kMinimalloc, "minimalloc"))
    return kBadUse;
  if (!arguments.option("limit").empty()) {
    const std::optional<size_t> limit = ReadCount("limit", arguments, console);
    if (!limit) return kBadUse;
    options.limit = *limit == 0 ? SIZE_MAX : *limit;
  }
  const std::optional<int64_t> min_size = page::ParseBytes(arguments.option("min-size"));
  if (!min_size) {
    console.ShowError("--min-size needs a size, not `" + arguments.option("min-size") + "`",
                      "such as 4096, 512MiB, 16G");
    return kBadUse;
  }
  options.min_size = *min_size;
  return Report(request, console);
}

std::vector<std::string_view> TableNames() {
  std::vector<std::string_view> names;
  for (const report::NamedCsvTable& table : report::CsvTables()) names.push_back(table.name);
  return names;
}

}  // namespace

CommandSpec ReportCommand() {
  return {
      .name = "report",
      .summary = "show where the memory goes, from XLA's memory reports",
      .details =
          "Reads XLA's memory reports of any version: a file, the files of one module, a\n"
          ".hlo.pb that contains an assignment, or a dump directory. A module without a\n"
          "report is planned as XLA does, and a note says so.\n"
          "\n"
          "For one module, shows the bytes by memory space and kind, the peak as XLA prints\n"
          "it and the true peak, how full the heaps are, and what is live at the peak. For\n"
          "several modules, lists them, largest first; --module chooses one.\n"
          "\n"
          "Every figure is recomputed. Figures in the files that differ, and facts that\n"
          "contradict each other, are warnings; with --strict they set the exit code to 1.\n",
      .examples =
          "  XLA_FLAGS=--xla_dump_to=dump python train.py    makes JAX write its reports\n"
          "  stowplan report dump/                           all modules, largest first\n"
          "  stowplan report dump/ --module=step             one: where does its memory go?\n"
          "  stowplan report dump/ --module=step --reconcile\n"
          "  stowplan report report.txt --min-size=1MiB --limit=0\n"
          "  stowplan report --format=xla report.txt         as XLA writes it, recomputed\n"
          "  stowplan report --format=json report.txt | jq .summary.peak\n",
      .positional = "INPUT",
      .count = Positionals::kAnyOrNone,
      .options = WithPlanOptions({
          {.name = "limit",
           .value = "N",
           .help = "at most N rows per table; 0 shows all (default: 10; all modules)"},
          {.name = "min-size",
           .value = "SIZE",
           .help = "list only what is at least this large: 4096, 512KiB, 16G",
           .fallback = "0"},
          {.name = "sort",
           .value = "KEY",
           .help = "sort values (default: peak) and modules (default: size) by",
           .choices = {"size", "peak", "name", "time"}},
          {.name = "reconcile",
           .help = "show each figure that XLA and JAX print, and how it is computed"},
          {.name = "strict", .help = "exit with code 1 if something in the files is wrong"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "xla", "json", "csv", "minimalloc", "proto"}},
          {.name = "dialect",
           .value = "NAME",
           .help = "xla: write as this release does; `list` shows all"},
          {.name = "part",
           .value = "NAME",
           .help = "xla: only this file",
           .choices = {"assignment", "values", "live-range", "usage"}},
          {.name = "table",
           .value = "NAME",
           .help = "csv: the table to write",
           .fallback = kDefaultTable,
           .choices = TableNames()},
          {.name = "allocation",
           .value = "N",
           .help = "minimalloc: the allocation to write (default: the largest temporary one)"},
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "write to this file instead of standard output"},
      }),
      .run = RunReport,
  };
}

}  // namespace stowplan::cli
