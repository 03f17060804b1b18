// SPDX-License-Identifier: Apache-2.0
// stowplan report: where the memory goes.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/human_bytes.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/keeper.h"
#include "cli/module_choice.h"
#include "cli/number.h"
#include "cli/plan_input.h"
#include "cli/report_dialect.h"
#include "cli/report_formats.h"
#include "cli/report_list.h"
#include "cli/report_load.h"
#include "cli/report_text.h"
#include "cli/suggest.h"
#include "report/csv.h"
#include "target/target.h"

namespace stowplan::cli {
namespace {

constexpr std::string_view kDefaultTable = "allocations";

int WriteOut(const std::string& text, int code, const ReportOptions& options, Console& console) {
  const std::unique_ptr<Output> output = console.Open(options.output);
  if (output == nullptr) return kBadUse;
  output->Write(text);
  return console.Finish(*output, code);
}

PlanInputOptions PlanningOf(const ReportOptions& options) {
  return {.inputs = options.inputs, .target = options.target, .version = options.version};
}

int ReportOne(InputModule module, ReportOptions options, Console& console) {
  if (options.format != ReportFormat::kXla) AddNeighbours(module);
  std::optional<LoadedModule> loaded = LoadOrPlan(std::move(module), PlanningOf(options), console);
  if (!loaded) return kBadUse;
  console.Show(loaded->problems);
  const Diagnostics findings = FindingsOf(loaded->report, loaded->sources);
  console.Show(findings);
  if (loaded->is_ours) options.target = loaded->target;
  // Other formats are about the files, and have what these say.
  if (options.format == ReportFormat::kText || options.format == ReportFormat::kJson)
    CompleteReport(options.target, *loaded);
  const std::optional<std::string> text = TextFor(*loaded, options, console);
  if (!text) return kBadUse;
  return WriteOut(*text, options.is_strict && !findings.empty() ? kFinding : kFine, options,
                  console);
}

// Each module gets a plan, since none has one. `inputs` keeps those that get none, as leftovers.
std::vector<ModuleRow> PlanModules(Inputs& inputs, const ReportOptions& options,
                                   const ListOptions& list, std::string& hint, Console& console) {
  const auto plan = [&](InputModule module) -> Result<LoadedModule> {
    const std::string name = module.name;
    Keeper keeper(console);
    std::optional<LoadedModule> planned =
        LoadOrPlan(std::move(module), PlanningOf(options), keeper);
    if (planned) return *std::move(planned);
    const Diagnostic* const first = keeper.FirstError();
    if (first == nullptr) return Fail(name, "cannot be planned");
    if (hint.empty()) hint = first->hint;
    Diagnostic why = *first;
    if (why.file == "stowplan") why.file = name;
    return Fail(std::move(why));
  };
  return CountModules(inputs, list, console, plan);
}

int ReportMany(Inputs inputs, const ReportOptions& options, Console& console) {
  if (options.is_reconcile ||
      (options.format != ReportFormat::kText && options.format != ReportFormat::kJson &&
       options.format != ReportFormat::kCsv)) {
    console.ShowError("there are " +
                          CountOf(static_cast<int64_t>(inputs.modules.size()), "module") +
                          ", and this is about one",
                      "--module=NAME chooses it; without, `stowplan report` lists them");
    return kBadUse;
  }
  const ListOptions list{.target = options.target,
                         .limit = options.limit.value_or(SIZE_MAX),
                         .min_size = options.min_size,
                         .sort = options.sort};
  Inputs programs = inputs;
  std::string hint;
  std::vector<ModuleRow> modules = CountModules(inputs, list, console);
  if (modules.empty()) {
    modules = PlanModules(programs, options, list, hint, console);
    inputs.leftovers = std::move(programs.leftovers);
    if (!modules.empty())
      console.Note("note: no module has a plan; each gets one, made as XLA does\n");
  }
  ShowLeftovers(inputs, console);
  const bool is_empty = modules.empty();
  const bool has_findings =
      !inputs.leftovers.empty() ||
      std::ranges::any_of(modules, [](const ModuleRow& row) { return row.findings != 0; });
  const HiddenModules hidden = SelectModules(modules, list);
  std::string text;
  if (options.format == ReportFormat::kJson) {
    text = ModulesJson(modules, inputs);
  } else if (options.format == ReportFormat::kCsv) {
    text = ModulesCsv(modules);
  } else {
    text = ModulesPage(modules, hidden,
                       options.inputs.size() == 1 ? options.inputs[0] : "the files given");
  }
  if (is_empty) {
    console.ShowError("none of the modules has a plan that can be read, or made", hint);
    return kBadUse;
  }
  return WriteOut(text, options.is_strict && has_findings ? kFinding : kFine, options, console);
}

int Report(const ReportOptions& options, Console& console) {
  Result<Inputs> inputs = FindInputs(options.inputs);
  if (!inputs) {
    console.Show(inputs.error());
    return kBadUse;
  }
  AddPrograms(options.module, *inputs);
  if (inputs->modules.empty()) {
    ShowLeftovers(*inputs, console);
    console.ShowError("there is no memory report in " + options.inputs[0],
                      "XLA_FLAGS=--xla_dump_to=DIR makes XLA write them");
    return kBadUse;
  }
  if (!FilterModules(options.module, *inputs, console)) return kBadUse;
  if (inputs->modules.size() > 1) return ReportMany(*std::move(inputs), options, console);
  ShowLeftovers(*inputs, console);
  const int code = ReportOne(std::move(inputs->modules[0]), options, console);
  return code == kFine && options.is_strict && !inputs->leftovers.empty() ? kFinding : code;
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

int Run(const Arguments& arguments, Console& console) {
  ReportOptions options{.inputs = arguments.positionals,
                        .module = arguments.option("module"),
                        .format = FormatNamed(arguments.option("format")),
                        .dialect = arguments.option("dialect"),
                        .target = arguments.option("target"),
                        .version = arguments.option("xla-version"),
                        .part = arguments.option("part"),
                        .table = arguments.option("table"),
                        .allocation = arguments.option("allocation"),
                        .output = arguments.option("output"),
                        .limit = {},
                        .sort = SortNamed(arguments.option("sort")),
                        .is_strict = arguments.flag("strict"),
                        .is_reconcile = arguments.flag("reconcile")};
  if (options.dialect == "list") return console.Print(ReportDialectList(), kFine);
  if (options.inputs.empty()) {
    console.ShowError("report needs an INPUT", "`stowplan report --help` shows its options");
    return kBadUse;
  }
  if (!CheckDialect(options.dialect, console)) return kBadUse;
  if (!options.dialect.empty() && options.format != ReportFormat::kXla) {
    console.ShowError("--dialect is about XLA's own text", "add --format=xla");
    return kBadUse;
  }
  // An option for one format, given with another, would say nothing.
  const auto is_vain = [&](std::string_view option, bool is_given, ReportFormat format,
                           std::string_view name) {
    if (!is_given || options.format == format) return false;
    console.ShowError("--" + std::string(option) + " is for another format",
                      "add --format=" + std::string(name));
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
  const std::optional<int64_t> min_size = ParseBytes(arguments.option("min-size"));
  if (!min_size) {
    console.ShowError("--min-size wants a size, not `" + arguments.option("min-size") + "`",
                      "such as 4096, 512MiB, 16G");
    return kBadUse;
  }
  options.min_size = *min_size;
  return Report(options, console);
}

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names;
  for (const Target& target : Targets()) names.push_back(target.name);
  return names;
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
          ".hlo.pb with an assignment in it, or a directory that XLA dumped to. A module\n"
          "without a report is planned as XLA does it, and a note says so. Of one\n"
          "module, shows the bytes by memory space and kind, the peak as XLA prints it and\n"
          "the true one, how full the heaps are, and what is live at the peak. Of several,\n"
          "lists them, largest first; --module chooses one.\n"
          "\n"
          "Every figure is computed; those in the files that differ, and facts that cannot\n"
          "all be true, are warnings, and with --strict make the exit code 1.\n",
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
      .options =
          {
              {.name = "module",
               .value = "NAME",
               .help = "of a directory, only the module of this name, or those with it in theirs"},
              {.name = "limit",
               .value = "N",
               .help = "at most N rows of a table, 0: all (default: 10; all modules)"},
              {.name = "min-size",
               .value = "SIZE",
               .help = "list only what is at least so large: 4096, 512KiB, 16G",
               .fallback = "0"},
              {.name = "sort",
               .value = "KEY",
               .help = "values (default: peak) and modules (default: size) by",
               .choices = {"size", "peak", "name", "time"}},
              {.name = "target",
               .value = "NAME",
               .help = "the machine, by which memory spaces are named; without, found",
               .choices = TargetNames()},
              {.name = "xla-version",
               .value = "NAME",
               .help = "the release whose rules count, when there is no plan"},
              {.name = "reconcile",
               .help = "show each figure that XLA and JAX print, and how it comes about"},
              {.name = "strict", .help = "exit code 1 when something in the files is wrong"},
              {.name = "format",
               .value = "KIND",
               .help = "how to print",
               .fallback = "text",
               .choices = {"text", "xla", "json", "csv", "minimalloc", "proto"}},
              {.name = "dialect",
               .value = "NAME",
               .help = "xla: write as this release does; `list` shows them"},
              {.name = "part",
               .value = "NAME",
               .help = "xla: only this file",
               .choices = {"assignment", "values", "live-range", "usage"}},
              {.name = "table",
               .value = "NAME",
               .help = "csv: which one",
               .fallback = kDefaultTable,
               .choices = TableNames()},
              {.name = "allocation",
               .value = "N",
               .help = "minimalloc: which one (default: the largest of temporaries)"},
              {.name = "output",
               .short_name = 'o',
               .value = "FILE",
               .help = "write there, not to standard output"},
          },
      .run = Run,
  };
}

}  // namespace stowplan::cli
