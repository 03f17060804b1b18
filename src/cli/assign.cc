// SPDX-License-Identifier: Apache-2.0
// stowplan assign: from the program to the reports that XLA would write.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/best_text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/number.h"
#include "cli/plan_setting.h"
#include "cli/stage_times.h"
#include "cli/suggest.h"
#include "report/json.h"
#include "stowplan/assign/assignment.h"
#include "stowplan/best/best.h"
#include "stowplan/check/check.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/verify.h"
#include "stowplan/live/choose_schedule.h"
#include "stowplan/live/dump.h"
#include "stowplan/live/overwrites.h"
#include "stowplan/read.h"
#include "stowplan/report/dump_directory.h"
#include "stowplan/report/from_assignment.h"
#include "stowplan/report/read.h"
#include "stowplan/report/summary.h"
#include "stowplan/report/write.h"
#include "stowplan/schedule/make_schedule.h"
#include "stowplan/target/guess.h"

namespace stowplan::cli {
namespace {

// One such place is enough to make one look.
constexpr size_t kMaxOverwrites = 3;

struct AssignOptions {
  PlanOptions plan;
  std::string folder;  // empty: standard output
  std::string stage;
  bool is_best = false;
  std::optional<double> time_limit;     // in seconds
  std::optional<int64_t> memory_limit;  // in bytes
  bool is_json = false;
  bool allows_unsound = false;
};

// module_0001.jit_f.cpu_after_optimizations for ...after_optimizations.hlo.pb
std::string StemOf(const std::string& file) {
  std::string name = file == "-" ? "stdin" : std::filesystem::path(file).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".hlo.pb", ".pb", ".txt", ".hlo"}) {
    if (name.ends_with(ending) && name.size() > ending.size())
      name.resize(name.size() - ending.size());
  }
  return name;
}

int WriteFiles(const report::Report& report, const AssignOptions& options, Console& console) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    console.ShowError("cannot make the directory " + options.folder + ": " + error.message());
    return kBadUse;
  }
  struct File {
    std::string_view ending;
    std::string text;
  };
  const report::ReportDialect& dialect = report.dialect;
  std::vector<File> files = {{"-buffer-assignment.txt", report::WriteAssignment(report, dialect)}};
  if (dialect.separate_files) {
    files.push_back({"-buffer-assignment-values.txt", report::WriteValueList(report, dialect)});
    files.push_back({"-live-range.txt", report::WriteLiveRanges(report, dialect)});
  }
  if (dialect.usage != report::UsageReport::kNone)
    files.push_back({"-memory-usage-report.txt", report::WriteUsage(report, dialect)});
  const std::string stem =
      (std::filesystem::path(options.folder) / StemOf(options.plan.file)).string();
  // All are open before the first gets its name: nothing is written when one cannot be.
  std::vector<std::unique_ptr<Output>> outputs;
  for (const File& file : files) {
    outputs.push_back(console.Open(stem + std::string(file.ending)));
    if (outputs.back() == nullptr) return kBadUse;
    outputs.back()->Write(file.text);
  }
  for (const std::unique_ptr<Output>& output : outputs) {
    if (const int code = console.Finish(*output, kFine); code != kFine) return code;
  }
  return kFine;
}

// The report, and what policy `best` has to say. The exit code.
int Write(const report::Report& report, const BestPlan& plan, const AssignOptions& options,
          Console& console) {
  std::optional<MemoryFit> fit;
  if (options.memory_limit) fit = FitOf(plan, *options.memory_limit);
  const auto add_fields = [&](JsonWriter& json) {
    if (options.is_best) WriteBest(plan, fit, json);
  };
  int code = kFine;
  if (options.is_json) {
    code = console.Print(report::WriteJson(report, add_fields), kFine);
  } else if (!options.folder.empty()) {
    code = WriteFiles(report, options, console);
  } else {
    report::ReportDialect combined = report.dialect;
    combined.separate_files = false;
    code = console.Print(report::WriteAssignment(report, combined), kFine);
  }
  if (options.is_best && !options.is_json) console.Note(HeapTable(plan.heaps));
  if (fit) console.Note(Sentence(*fit));
  return code == kFine && fit && !fit->fits() ? kFinding : code;
}

void NotePreset(const Rules& rules, const Analysis& analysis, const Assignment& assignment,
                const std::optional<Preset>& preset, Console& console) {
  if (rules.preset_space < 0 || preset) return;
  int64_t count = 0;
  for (size_t v = 0; v < assignment.places.size(); ++v) {
    if (!assignment.places[v].allocation.is_none() && assignment.colors[v] == rules.preset_space &&
        analysis.live.ranges[v].exists())
      ++count;
  }
  if (count == 0) return;
  console.Note(
      fmt::format("note: nothing says where XLA put the {} values in memory space {}; "
                  "Stowplan placed them itself (--preset=REPORT gives XLA's places)\n",
                  count, rules.preset_space));
}

// By the policy that was asked for; with policy `xla` there are no heaps.
Result<BestPlan> PlanBy(const AssignOptions& options, const hlo::Module& module,
                        const Analysis& analysis, const Rules& rules,
                        const std::optional<Preset>& preset) {
  if (!options.is_best) {
    STOWPLAN_TRY(Assignment assignment, stowplan::Assign(module, analysis, rules, preset));
    return BestPlan{.assignment = std::move(assignment), .heaps = {}};
  }
  BestOptions best = {.memory_limit = options.memory_limit, .should_stop = {}};
  if (options.time_limit) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(*options.time_limit));
    best.should_stop = [end] { return Clock::now() >= end; };
  }
  return AssignBest(module, analysis, rules, preset, best);
}

// A plan that shares nothing but what the program makes share.
Assignment SpreadOut(const Analysis& analysis, const Assignment& plan) {
  Assignment spread = plan;
  spread.allocations = {};
  for (size_t b = 0; b < analysis.buffers.size(); ++b) {
    const std::span<const ValueId> values = analysis.buffers.values_of(BufferId(b));
    const Place& place = plan.places[values[0].index];
    if (place.allocation.is_none()) continue;
    Allocation allocation = plan.allocations[place.allocation];
    allocation.values.assign(values.begin(), values.end());
    allocation.size = place.size;
    const AllocationId id = spread.allocations.Add(std::move(allocation));
    for (const ValueId value : values) spread.places[value.index] = {id, 0, place.size};
  }
  return spread;
}

// Executes the program on the plan, as `stowplan check` does. The exit code when the plan is
// written; none, and a message, when it must not be: an unsound plan is written only on demand.
std::optional<int> CodeOf(const hlo::Module& module, const Analysis& analysis,
                          const Assignment& plan, const report::Report& report,
                          const Setting& setting, const AssignOptions& options, Console& console) {
  const Target& target = setting.rules.target;
  const Result<check::Verdict> verdict = check::CheckPlan(module, report, target);
  if (!verdict) {
    console.Note("note: the plan was not checked: " + verdict.error()[0].message + "\n");
    return kFine;
  }
  if (verdict->is_sound()) return kFine;
  // A program that lacks a copy has no sound plan at all.
  const Result<check::Verdict> best_case = check::CheckPlan(
      module, report::ReportOf(module, analysis, SpreadOut(analysis, plan), setting.style), target);
  const bool is_of_program = best_case && !best_case->is_sound();
  console.Note(check::Describe((is_of_program ? best_case : verdict)->findings[0]));
  if (options.allows_unsound) {
    console.Note("note: the plan is not sound, and is written on demand\n");
    return kFinding;
  }
  if (is_of_program) {
    console.ShowError("no plan of this program is sound by XLA's rules, so nothing is written",
                      "a copy is missing in it; --allow-unsound writes XLA's plan all the same");
  } else {
    console.ShowError("the plan is not sound, so nothing is written",
                      "this is an error of Stowplan, or of the preset");
  }
  return std::nullopt;
}

int Assign(const AssignOptions& options, Console& console) {
  StageTimes times;
  Result<hlo::Module> module = ReadModule(options.plan.file);
  if (!module) {
    console.Show(module.error());
    return kBadUse;
  }
  console.Show(module->warnings);
  times.Done("read");
  if (const Diagnostics complaints = hlo::Verify(*module); !complaints.empty()) {
    console.Show(complaints);
    return kBadUse;
  }
  times.Done("verify");
  const std::optional<Setting> setting = Settle(*module, options.plan, console);
  if (!setting) return kBadUse;
  if (options.plan.has_stats || options.plan.target.empty() || options.plan.version.empty())
    console.Note(fmt::format("note: {}\n", setting->words));
  if (!options.plan.scheduler.empty() || !IsScheduled(*module)) {
    module = Scheduled(*module, setting->rules, options.plan, console);
    if (!module) {
      console.Show(module.error());
      return kBadUse;
    }
    times.Done("scheduling");
  }
  if (!options.plan.preset.empty() && setting->rules.preset_space < 0) {
    console.ShowError(fmt::format("--preset is for TPUs with fast memory, and not for {}",
                                  setting->rules.target.name));
    return kBadUse;
  }
  const Result<Analysis> analysis =
      Analyze(*module, setting->rules.analysis, [&](std::string_view stage) { times.Done(stage); });
  if (!analysis) {
    console.Show(analysis.error());
    return kBadUse;
  }
  console.Show(FindOverwrites(*module, analysis->calls, analysis->schedule, analysis->flow,
                              analysis->buffers),
               kMaxOverwrites);
  if (!options.stage.empty()) {
    if (options.plan.has_stats) console.Note(times.Table());
    return console.Print(DumpStage(*module, *analysis, options.stage), kFine);
  }
  const Result<std::optional<Preset>> preset =
      FindPreset(*module, *analysis, setting->rules, options.plan);
  if (!preset) {
    console.Show(preset.error());
    return kBadUse;
  }
  const Result<BestPlan> plan = PlanBy(options, *module, *analysis, setting->rules, *preset);
  if (!plan) {
    console.Show(plan.error());
    return kBadUse;
  }
  const Assignment& assignment = plan->assignment;
  times.Done("assign");
  if (const Diagnostics overlaps = FindOverlaps(*module, *analysis, assignment);
      !overlaps.empty()) {
    console.Show(overlaps);
    console.ShowError("the plan is not sound, so nothing is written",
                      "this is an error of Stowplan or of the preset");
    return kBadUse;
  }
  NotePreset(setting->rules, *analysis, assignment, *preset, console);
  const report::Report report = report::ReportOf(*module, *analysis, assignment, setting->style);
  times.Done("report");
  const std::optional<int> soundness =
      CodeOf(*module, *analysis, assignment, report, *setting, options, console);
  if (!soundness) return kBadUse;
  times.Done("check");
  const int code = std::max(*soundness, Write(report, *plan, options, console));
  times.Done("write");
  if (options.plan.has_stats) console.Note(times.Table());
  return code;
}

int Run(const Arguments& arguments, Console& console) {
  if (!arguments.option("output").empty() &&
      (arguments.option("format") == "json" || !arguments.option("dump-stage").empty())) {
    console.ShowError("-o writes XLA's files; --format=json and --dump-stage print",
                      "leave one of them out");
    return kBadUse;
  }
  AssignOptions options = {.plan = {.file = arguments.positionals[0],
                                    .target = arguments.option("target"),
                                    .version = arguments.option("xla-version"),
                                    .dialect = arguments.option("dialect"),
                                    .preset = arguments.option("preset"),
                                    .scheduler = arguments.option("schedule"),
                                    .has_stats = arguments.flag("stats")},
                           .folder = arguments.option("output"),
                           .stage = arguments.option("dump-stage"),
                           .is_best = arguments.option("policy") == "best",
                           .is_json = arguments.option("format") == "json",
                           .allows_unsound = arguments.flag("allow-unsound")};
  const bool has_time = !arguments.option("time-limit").empty();
  const bool has_memory = !arguments.option("memory-limit").empty();
  if (!options.is_best && (has_time || has_memory)) {
    console.ShowError(
        fmt::format("--{} is for --policy=best", has_time ? "time-limit" : "memory-limit"),
        "policy xla does what XLA does, without a choice");
    return kBadUse;
  }
  if (has_time) options.time_limit = ReadSeconds("time-limit", arguments, console);
  if (has_memory) options.memory_limit = ReadBytes("memory-limit", arguments, console);
  if (has_time != options.time_limit.has_value() || has_memory != options.memory_limit.has_value())
    return kBadUse;
  return Assign(options, console);
}

}  // namespace

CommandSpec AssignCommand() {
  const std::span<const std::string_view> stages = AnalysisStages();
  return {
      .name = "assign",
      .summary = "plan the memory of a program as XLA does",
      .details =
          "Finds the values of a scheduled module, who must share a place with whom, when\n"
          "each is alive, and assigns allocations and offsets by XLA's own rules. The\n"
          "reports equal XLA's.\n"
          "\n"
          "With -o, writes the files that XLA would have put beside the module; without,\n"
          "the combined report to standard output. Target and version of XLA are found\n"
          "from the module where it shows them. TPU compilers choose the places in fast\n"
          "memory by rules of their own: they are taken from the module's file or from\n"
          "--preset; without either, Stowplan places these values itself.\n"
          "\n"
          "The program is executed on every plan before it is written, as `stowplan check`\n"
          "does. A program that lacks a copy has no sound plan: nothing is written then,\n"
          "unless --allow-unsound asks for it.\n"
          "\n"
          "--policy=best packs the temporaries of each memory space again, and lets them\n"
          "lie in buffers of the result that are not used yet; no memory space is larger\n"
          "than in XLA's plan. A table on standard error says how far from the optimum the\n"
          "plan can be. With --memory-limit, the exit code is 1 when it does not fit.\n",
      .examples =
          "  stowplan assign module_0001.jit_f.cpu_after_optimizations.hlo.pb\n"
          "  stowplan assign -o out --target=gpu --xla-version=jaxlib-0.11.2 module.hlo.pb\n"
          "  stowplan assign --target=tpu-v5e --preset=m-buffer-assignment.txt m.hlo.pb\n"
          "  stowplan assign --policy=best --memory-limit=15.75GiB -o out m.hlo.pb\n"
          "  stowplan assign --dump-stage=live-ranges module.txt\n",
      .positional = "MODULE",
      .options =
          {
              {.name = "output",
               .short_name = 'o',
               .value = "DIR",
               .help = "write XLA's files there, not to standard output"},
              {.name = "target",
               .value = "NAME",
               .help = "plan for this machine",
               .choices = TargetNames()},
              {.name = "xla-version",
               .value = "NAME",
               .help = "by the rules of this release: jaxlib-0.11.2, libtpu-0.0.51, ..."},
              {.name = "policy",
               .value = "NAME",
               .help = "how to plan: as XLA does, or lower",
               .fallback = "xla",
               .choices = {"xla", "best"}},
              {.name = "time-limit", .value = "S", .help = "best: search for so many seconds"},
              {.name = "memory-limit",
               .value = "SIZE",
               .help = "best: find a plan of memory space 0 that fits into this"},
              {.name = "dialect",
               .value = "NAME",
               .help = "write as another release does; `stowplan report --dialect=list`"},
              {.name = "preset",
               .value = "REPORT",
               .help = "take places in a TPU's fast memory from this report or .hlo.pb"},
              {.name = "schedule",
               .value = "KIND",
               .help = "order of execution; without, the module's, or the one of least peak",
               .choices = {"post-order", "depth-first", "list"}},
              {.name = "dump-stage",
               .value = "STAGE",
               .help = "print what a stage finds, and stop",
               .choices = {stages.begin(), stages.end()}},
              {.name = "format",
               .value = "KIND",
               .help = "how to print",
               .fallback = "xla",
               .choices = {"xla", "json"}},
              {.name = "allow-unsound",
               .help = "write the plan even if the check finds it wrong; the exit code is then 1"},
              {.name = "stats", .help = "time and memory of each stage, to standard error"},
          },
      .run = Run,
  };
}

}  // namespace stowplan::cli
