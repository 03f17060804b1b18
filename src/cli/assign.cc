// SPDX-License-Identifier: Apache-2.0
// stowplan assign: plans a program and writes the reports that XLA would write.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/program_file.h"
#include "cli/stage_times.h"
#include "live/dump.h"
#include "page/best_text.h"
#include "page/check_page.h"
#include "page/order_page.h"
#include "report/json.h"
#include "report/write.h"
#include "session/make_plan.h"
#include "session/module_errors.h"
#include "session/names.h"
#include "session/sequence.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

struct AssignOptions {
  std::string file;
  PlanOptions plan;
  std::string folder;  // empty: standard output
  std::string stage;
  std::optional<double> time_limit;  // in seconds
  bool is_json = false;
};

int WriteFiles(const PlannedModule& planned, const AssignOptions& options, Console& console) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    console.ShowError("cannot make the directory " + options.folder + ": " + error.message());
    return kBadUse;
  }
  const std::filesystem::path folder = options.folder;
  // Open every file before the first is renamed into place, so that a failure leaves nothing.
  std::vector<std::unique_ptr<Output>> outputs;
  for (const ReportFile& file : ReportFilesOf(planned)) {
    outputs.push_back(console.Open((folder / file.name).string()));
    if (outputs.back() == nullptr) return kBadUse;
    outputs.back()->Write(file.text);
  }
  for (const std::unique_ptr<Output>& output : outputs) {
    if (const int code = console.Finish(*output, kFine); code != kFine) return code;
  }
  return kFine;
}

// Prints the report, and the results of policy `best`. Returns the exit code.
int Write(const PlannedModule& planned, const AssignOptions& options, Console& console) {
  const bool is_best = options.plan.policy == Policy::kBest;
  std::optional<page::MemoryFit> fit;
  if (options.plan.memory_limit) fit = page::FitOf(planned, *options.plan.memory_limit);
  int code = kFine;
  if (options.is_json) {
    code = console.Print(report::WriteJson(*planned.report,
                                           [&](JsonWriter& json) {
                                             page::WriteVerdict(planned.verdict, json);
                                             if (is_best) page::WriteBest(planned, fit, json);
                                           }),
                         kFine);
  } else if (!options.folder.empty()) {
    code = WriteFiles(planned, options, console);
  } else {
    code = console.Print(report::WriteCombined(*planned.report, planned.report->dialect), kFine);
  }
  if (planned.order && !options.is_json) console.Note(page::OrderSentence(*planned.order) + "\n");
  if (is_best && !options.is_json) console.Note(page::HeapTable(planned.heaps));
  if (fit) console.Note(page::Sentence(*fit));
  if (code != kFine) return code;
  const bool is_fine = planned.verdict.soundness == Soundness::kSound && (!fit || fit->fits());
  return is_fine ? kFine : kFinding;
}

int Assign(AssignOptions options, Console& console) {
  StageTimes times;
  const bool has_stats = options.plan.has_stats;
  options.plan.on_stage = [&](std::string_view stage) { times.Done(stage); };
  Result<hlo::Module> module = ReadModule(options.file);
  if (!module) {
    console.Show(ExplainModuleErrors(std::move(module).error()));
    return kBadUse;
  }
  console.Show(module->warnings);
  times.Done("read");
  PlannedModule program;
  program.name = options.file;
  program.module = std::make_shared<const hlo::Module>(*std::move(module));
  console.Show(UseReportBeside(options.file, program.module, options.plan));
  if (!options.stage.empty()) {
    const std::optional<Prepared> prepared = console.Take(Prepare(program, options.plan));
    if (!prepared) return kBadUse;
    console.Show(prepared->notes);
    console.Show(prepared->overwrites);
    if (has_stats) console.Note(times.Table());
    return console.Print(DumpStage(*prepared->module, *prepared->analysis, options.stage), kFine);
  }
  if (options.time_limit) {
    options.plan.should_stop = StopAfter(*options.time_limit);
    options.plan.searches_on = true;
  }
  const std::optional<PlannedModule> planned = console.Take(Plan(program, options.plan));
  if (!planned) return kBadUse;
  console.Show(planned->notes);
  const int code = Write(*planned, options, console);
  times.Done("write");
  if (has_stats) console.Note(times.Table());
  return code;
}

// What chooses a module of a directory.
PlanOptions FileOptionsOf(const PlanOptions& plan) {
  PlanOptions options;
  options.module = plan.module;
  options.target = plan.target;
  options.speech = plan.speech;
  options.caller = plan.caller;
  return options;
}

int RunAssign(const Arguments& arguments, Console& console) {
  if (!arguments.option("output").empty() &&
      (arguments.option("format") == "json" || !arguments.option("dump-stage").empty())) {
    console.ShowError("-o cannot be combined with --format=json or --dump-stage",
                      "-o writes XLA's files; the others print to standard output");
    return kBadUse;
  }
  AssignOptions options = {.file = arguments.positionals[0],
                           .plan = PlanOptionsOf(arguments, console),
                           .folder = arguments.option("output"),
                           .stage = arguments.option("dump-stage"),
                           .time_limit = {},
                           .is_json = arguments.option("format") == "json"};
  PlanOptions& plan = options.plan;
  if (arguments.option("policy") == "best") plan.policy = Policy::kBest;
  plan.dialect = arguments.option("dialect");
  plan.preset = arguments.option("preset");
  plan.scheduler = arguments.option("schedule");
  const std::optional<int64_t> overlap_loss = OverlapLossOf(arguments, console);
  if (!overlap_loss) return kBadUse;
  plan.overlap_loss = *overlap_loss;
  plan.has_stats = arguments.flag("stats");
  const bool has_time = !arguments.option("time-limit").empty();
  const bool has_memory = !arguments.option("memory-limit").empty();
  if (plan.policy != Policy::kBest && (has_time || has_memory)) {
    console.ShowError(
        fmt::format("--{} requires --policy=best", has_time ? "time-limit" : "memory-limit"),
        "policy xla reproduces XLA's plan and has nothing to search for");
    return kBadUse;
  }
  if (!arguments.option("heap-limit").empty()) {
    plan.heap_limit = ReadBytes("heap-limit", arguments, console);
    if (!plan.heap_limit) return kBadUse;
  }
  if (has_time) {
    options.time_limit = ReadSeconds("time-limit", arguments, console);
    if (!options.time_limit) return kBadUse;
  }
  if (has_memory) {
    plan.memory_limit = ReadBytes("memory-limit", arguments, console);
    if (!plan.memory_limit) return kBadUse;
  }
  std::optional<std::string> file = ProgramFile(options.file, FileOptionsOf(plan), console);
  if (!file) return kBadUse;
  options.file = *std::move(file);
  return Assign(std::move(options), console);
}

std::vector<OptionSpec> Options() {
  const std::span<const std::string_view> stages = AnalysisStages();
  return {
      {.name = "output",
       .short_name = 'o',
       .value = "DIR",
       .help = "write XLA's files to this directory instead of printing"},
      {.name = "module", .value = "NAME", .help = "the module to use from a directory"},
      {.name = "target",
       .value = "NAME",
       .help = "plan for this machine",
       .choices = TargetNames()},
      {.name = "xla-version",
       .value = "NAME",
       .help = "use the rules of this release: jaxlib-0.11.2, libtpu-0.0.51, ..."},
      {.name = "policy",
       .value = "NAME",
       .help = "reproduce XLA's plan, or search for a smaller one",
       .fallback = "xla",
       .choices = {"xla", "best"}},
      {.name = "time-limit", .value = "S", .help = "best: search for S seconds"},
      {.name = "memory-limit",
       .value = "SIZE",
       .help = "best: look for a plan whose memory space 0 fits into SIZE"},
      {.name = "heap-limit",
       .value = "SIZE",
       .help = "start another heap when one would exceed SIZE, like XLA's flag "
               "xla_multiheap_size_constraint_per_heap"},
      {.name = "dialect",
       .value = "NAME",
       .help = "write reports in the format of another release; `stowplan report "
               "--dialect=list` lists them"},
      {.name = "preset",
       .value = "REPORT",
       .help = "take offsets in a TPU's fast memory from this report or .hlo.pb"},
      {.name = "schedule",
       .value = "KIND",
       .help = "order of execution, by default the module's schedule or else the order "
               "with the lowest peak; best searches for the order of least memory",
       .choices = {"best", "post-order", "depth-first", "list"}},
      OverlapOption(),
      {.name = "dump-stage",
       .value = "STAGE",
       .help = "print the result of this stage, and stop",
       .choices = {stages.begin(), stages.end()}},
      {.name = "format",
       .value = "KIND",
       .help = "output format",
       .fallback = "xla",
       .choices = {"xla", "json"}},
      {.name = "allow-unsound", .help = "write the plan even if it fails the check"},
      {.name = "allow-unchecked", .help = "write the plan even if it cannot be checked"},
      {.name = "stats", .help = "print the time and memory of each stage to standard error"},
  };
}

}  // namespace

CommandSpec AssignCommand() {
  return {
      .name = "assign",
      .summary = "plan the memory of a program as XLA does",
      .details =
          "Finds the values of a scheduled module, which of them must share memory, and\n"
          "when each is alive; then assigns allocations and offsets by XLA's own rules.\n"
          "The reports are identical to XLA's.\n"
          "\n"
          "With -o, writes the files that XLA would have put beside the module; otherwise\n"
          "prints the combined report. The target and the XLA version are detected from\n"
          "the module where possible. TPU compilers place values in fast memory by rules\n"
          "of their own, so those offsets come from the module's file or from --preset;\n"
          "without either, Stowplan places these values itself.\n"
          "\n"
          "Every plan is checked before it is written, as `stowplan check` does. A program\n"
          "that lacks a copy has no sound plan, so nothing is written unless you pass\n"
          "--allow-unsound; a plan that cannot be checked is not written unless you pass\n"
          "--allow-unchecked. With either option, such a plan sets the exit code to 1.\n"
          "\n"
          "--policy=best repacks the temporaries of each memory space, and may put them in\n"
          "output buffers that are not in use yet. No memory space gets larger than in\n"
          "XLA's plan. A table on standard error shows how far from the optimum the plan\n"
          "can be. With --memory-limit, the exit code is 1 if the plan does not fit.\n",
      .examples =
          "  stowplan assign module_0001.jit_f.cpu_after_optimizations.hlo.pb\n"
          "  stowplan assign -o out --target=gpu --xla-version=jaxlib-0.11.2 module.hlo.pb\n"
          "  stowplan assign --target=tpu-v5e --preset=m-buffer-assignment.txt m.hlo.pb\n"
          "  stowplan assign --policy=best --memory-limit=15.75GiB -o out m.hlo.pb\n"
          "  stowplan assign --dump-stage=live-ranges module.txt\n",
      .positional = "MODULE",
      .options = Options(),
      .run = RunAssign,
  };
}

}  // namespace stowplan::cli
