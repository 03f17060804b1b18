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
#include "cli/number.h"
#include "cli/report_dialect.h"
#include "cli/report_input.h"
#include "cli/report_json.h"
#include "cli/report_list.h"
#include "cli/report_page.h"
#include "cli/report_text.h"
#include "cli/suggest.h"
#include "report/csv.h"
#include "report/from_proto.h"
#include "report/json.h"
#include "report/minimalloc.h"
#include "report/to_proto.h"
#include "stowplan/report/summary.h"
#include "stowplan/report/write.h"
#include "stowplan/target/target.h"

namespace stowplan::cli {
namespace {

using report::FileKind;

enum class ReportFormat { kText, kXla, kJson, kCsv, kMinimalloc, kProto };

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string module;
  ReportFormat format = ReportFormat::kText;
  std::string dialect;  // empty: the report's own
  std::string target;   // empty: guessed
  std::string part;     // empty: all that there are
  std::string table;
  std::string allocation;  // empty: the largest of the temporaries
  std::string output;
  std::optional<size_t> limit;
  int64_t min_size = 0;
  ReportSort sort = ReportSort::kDefault;
  bool is_strict = false;
  bool is_reconcile = false;
};

// A command's answer: a text, or a message and nothing.
std::optional<std::string> Refuse(Console& console, const std::string& message,
                                  const std::string& hint = {}) {
  console.ShowError(message, hint);
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
                                   Console& console) {
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
    if (InstructionTextsDiffer(report, options.dialect)) {
      Diagnostics warning = Fail("stowplan", "the texts of instructions stay as they are; " +
                                                 options.dialect + " writes operands otherwise")
                                .error();
      warning[0].severity = Severity::kWarning;
      console.Show(warning);
    }
  }
  if (parts.empty()) parts = PartsOf(report, dialect);
  const std::vector<std::string> missing = MissingFacts(report, dialect, parts);
  if (!missing.empty()) {
    std::string list;
    for (const std::string& fact : missing) list += (list.empty() ? "" : ", ") + fact;
    return Refuse(console, "the input does not tell what this dialect writes: " + list,
                  "--part=NAME writes only one of the files");
  }
  std::string out;
  for (const FileKind part : parts) out += WritePart(report, dialect, part);
  return out;
}

std::optional<std::string> CsvText(const report::Report& report, const ReportOptions& options,
                                   Console& console) {
  const report::CsvTable table = *report::FindCsvTable(options.table);
  if (report::HasCsvTable(report, table)) return report::WriteCsv(report, table);
  std::string others;
  for (const report::NamedCsvTable& named : report::CsvTables()) {
    if (!report::HasCsvTable(report, named.table)) continue;
    others += (others.empty() ? "it has: " : ", ") + std::string(named.name);
  }
  return Refuse(console, "the input has nothing for the table `" + options.table + "`", others);
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
                                          Console& console) {
  const report::Report& report = loaded.report;
  if (!report::HasPeak(report)) {
    return Refuse(console, "packing needs an assignment and live ranges",
                  "give the -live-range.txt too, or the directory and --module");
  }
  if (const Result<report::TruePeak> peak = report::ComputeTruePeak(report); !peak) {
    console.Show(peak.error());
    return std::nullopt;
  }
  const report::AllocationId id = ChooseAllocation(report, options.allocation);
  if (id.is_none()) {
    return Refuse(console, options.allocation.empty()
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
    console.Note("stowplan: left out " + CountOf(instance.values_left_out, "value") +
                 " without a live range\n");
  }
  return report::WriteMinimalloc(instance, report::PackingOffsets::kWrite);
}

std::optional<std::string> ProtoBytes(const LoadedModule& loaded, Console& console) {
  if (!loaded.program) {
    return Refuse(console, "a BufferAssignmentProto names instructions by the ids of a module",
                  "give the module's .hlo.pb too");
  }
  Result<std::string> bytes = report::WriteBufferAssignmentProto(loaded.report, *loaded.program);
  if (bytes) return *std::move(bytes);
  console.Show(bytes.error());
  return std::nullopt;
}

PageOptions PageOptionsFor(const LoadedModule& loaded, const ReportOptions& options) {
  PageOptions page{.title = loaded.name};
  page.limit = options.limit.value_or(10);
  page.min_size = options.min_size;
  page.sort = options.sort;
  if (!options.target.empty()) {
    page.backend = report::BackendOfTarget(options.target);
    page.backend_reason = options.target.starts_with("tpu-") ? options.target.substr(4) : "";
  } else {
    page.backend = report::GuessBackend(loaded.report);
  }
  return page;
}

std::optional<std::string> TextOrJson(const LoadedModule& loaded, const ReportOptions& options,
                                      Console& console) {
  if (!loaded.report.has_assignment && options.format == ReportFormat::kJson) {
    return report::WriteJson(loaded.report);
  }
  if (!loaded.report.has_assignment) {
    return Refuse(console, "there is no buffer assignment among the files",
                  "--format=xla, json and csv do without; a page needs -buffer-assignment.txt");
  }
  const Result<report::Summary> summary = report::Summarize(loaded.report);
  if (!summary) {
    console.Show(summary.error());
    return std::nullopt;
  }
  const PageOptions page = PageOptionsFor(loaded, options);
  if (options.format == ReportFormat::kJson) {
    return ReportJson(loaded.report, *summary, page.backend);
  }
  if (options.is_reconcile) return ReconcilePage(loaded.report, *summary, page);
  return ReportPage(loaded.report, *summary, loaded.program ? &*loaded.program : nullptr, page);
}

std::optional<std::string> TextFor(const LoadedModule& loaded, const ReportOptions& options,
                                   Console& console) {
  switch (options.format) {
    case ReportFormat::kXla:
      return XlaText(loaded, options, console);
    case ReportFormat::kCsv:
      return CsvText(loaded.report, options, console);
    case ReportFormat::kMinimalloc:
      return MinimallocText(loaded, options, console);
    case ReportFormat::kProto:
      return ProtoBytes(loaded, console);
    case ReportFormat::kJson:
    case ReportFormat::kText:
      break;
  }
  return TextOrJson(loaded, options, console);
}

int WriteOut(const std::string& text, int code, const ReportOptions& options, Console& console) {
  const std::unique_ptr<Output> output = console.Open(options.output);
  if (output == nullptr) return kBadUse;
  output->Write(text);
  return console.Finish(*output, code);
}

int ReportOne(InputModule module, const ReportOptions& options, Console& console) {
  if (options.format != ReportFormat::kXla) AddNeighbours(module);
  const Result<LoadedModule> loaded = Load(std::move(module), Program::kRead);
  if (!loaded) {
    console.Show(loaded.error());
    return kBadUse;
  }
  console.Show(loaded->problems);
  Diagnostics findings;
  for (const std::shared_ptr<const Source>& source : loaded->sources) {
    std::ranges::copy(report::CompareFigures(loaded->report, *source),
                      std::back_inserter(findings));
  }
  console.Show(findings);
  const std::optional<std::string> text = TextFor(*loaded, options, console);
  if (!text) return kBadUse;
  return WriteOut(*text, options.is_strict && !findings.empty() ? kFinding : kFine, options,
                  console);
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
  std::vector<ModuleRow> modules = CountModules(inputs, list);
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
    console.ShowError("none of the modules could be read");
    return kBadUse;
  }
  return WriteOut(text, options.is_strict && has_findings ? kFinding : kFine, options, console);
}

// The name without folder and number: "jit_step" of "dump/module_0003.jit_step".
std::string_view OwnName(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const size_t dot = name.find('.');
  return name.starts_with("module_") && dot != std::string_view::npos ? name.substr(dot + 1) : name;
}

// Keeps the modules that --module means: those of this name, else those that have it in their
// names.
bool FilterModules(const std::string& wanted, Inputs& inputs, Console& console) {
  if (wanted.empty()) return true;
  std::vector<InputModule> exact;
  std::vector<InputModule> similar;
  for (const InputModule& module : inputs.modules) {
    const std::string_view name = OwnName(module.name);
    if (name == wanted || module.name == wanted || name == "jit_" + wanted) {
      exact.push_back(module);
    } else if (name.find(wanted) != std::string_view::npos || module.name.starts_with(wanted)) {
      similar.push_back(module);
    }
  }
  if (exact.empty() && similar.empty()) {
    std::vector<std::string_view> names;
    names.reserve(inputs.modules.size());
    for (const InputModule& module : inputs.modules) names.push_back(OwnName(module.name));
    console.ShowError("there is no module `" + wanted + "`", DidYouMean(wanted, names));
    return false;
  }
  inputs.modules = exact.empty() ? std::move(similar) : std::move(exact);
  // What else lies in the directory is not of interest.
  inputs.leftovers.clear();
  return true;
}

int Report(const ReportOptions& options, Console& console) {
  Result<Inputs> inputs = FindInputs(options.inputs);
  if (!inputs) {
    console.Show(inputs.error());
    return kBadUse;
  }
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
          ".hlo.pb with an assignment in it, or a directory that XLA dumped to. Of one\n"
          "module, shows the bytes by memory space and kind, the peak as XLA prints it and\n"
          "the true one, how full the heaps are, and what is live at the peak. Of several,\n"
          "lists them, largest first; --module chooses one.\n"
          "\n"
          "Every figure is computed; those in the files that differ are warnings, and with\n"
          "--strict make the exit code 1.\n",
      .examples =
          "  stowplan report module_0003.jit_step.cpu_after_optimizations-buffer-assignment.txt\n"
          "  stowplan report dump/                           all modules, largest first\n"
          "  stowplan report dump/ --module=step --min-size=1MiB\n"
          "  stowplan report dump/ --module=step --reconcile\n"
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
               .help = "name memory spaces as this one does, do not guess",
               .choices = TargetNames()},
              {.name = "reconcile",
               .help = "show each figure that XLA and JAX print, and how it comes about"},
              {.name = "strict", .help = "exit code 1 when a figure in the files is wrong"},
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
               .fallback = "allocations",
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
