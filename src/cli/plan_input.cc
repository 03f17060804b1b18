// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_input.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/keeper.h"
#include "cli/module_choice.h"
#include "cli/names.h"
#include "cli/report_list.h"
#include "cli/suggest.h"
#include "explain/complete.h"
#include "report/from_proto.h"
#include "report/read.h"
#include "report/summary.h"
#include "stowplan/read.h"

namespace stowplan::cli {

using report::DumpFileKind;

OptionSpec TargetOption() {
  return {.name = "target",
          .value = "NAME",
          .help = "the machine; without, found",
          .choices = TargetNames()};
}

std::vector<OptionSpec> WithPlanInput(std::vector<OptionSpec> own) {
  own.push_back(
      {.name = "module", .value = "NAME", .help = "of a directory, the module of this name"});
  own.push_back(TargetOption());
  own.push_back({.name = "xla-version",
                 .value = "NAME",
                 .help = "the release whose rules count, when there is no plan"});
  return own;
}

void FindModuleText(InputModule& module) {
  std::optional<InputFile>& file = module.file(DumpFileKind::kAssignment);
  if (!file || !file->source || module.file(DumpFileKind::kModuleText)) return;
  if (report::KindOf(*file->source) != report::FileKind::kUnknown) return;
  if (file->source->bytes().find("ENTRY ") == std::string_view::npos) return;
  module.file(DumpFileKind::kModuleText) = std::move(*file);
  file.reset();
}

namespace {

// The module's own file, when no report is there.
Result<hlo::Module> ReadProgram(InputModule& module, std::string& path) {
  const DumpFileKind kind = module.file(DumpFileKind::kModuleProto) ? DumpFileKind::kModuleProto
                                                                    : DumpFileKind::kModuleText;
  InputFile& file = *module.file(kind);
  path = file.path;
  if (!file.source) {
    STOWPLAN_TRY(file.source, ReadSource(file.path));
  }
  return ParseModule(file.source);
}

std::optional<PlanInput> PlanProgram(InputModule module, const PlanInputOptions& options,
                                     Listener& listener) {
  PlanInput input;
  input.name = module.name;
  std::string path;
  Result<hlo::Module> program = ReadProgram(module, path);
  if (!program) {
    listener.Show(ExplainModuleErrors(std::move(program).error()));
    return std::nullopt;
  }
  listener.Show(program->warnings);
  if (program->buffer_assignment.size != 0) {
    Result<report::Report> report = report::ReportFromModule(*program);
    if (!report) {
      listener.Show(report.error());
      return std::nullopt;
    }
    input.report = *std::move(report);
    input.program = *std::move(program);
    return input;
  }
  std::optional<PlannedModule> planned =
      PlanAsXla(*std::move(program),
                {.file = path, .target = options.target, .version = options.version}, listener);
  if (!planned) return std::nullopt;
  input.report = std::move(planned->report);
  input.program = std::move(planned->module);
  input.analysis = std::move(planned->analysis);
  input.target = planned->setting.rules.target;
  input.is_ours = true;
  return input;
}

std::string FileOf(const hlo::Module& module) {
  return module.source ? module.source->name() : std::string();
}

// What the reports lack, from the program.
void CompleteInput(const PlanInputOptions& options, PlanInput& input) {
  if (!input.program || !input.report.has_assignment) return;
  if (input.report.live_ranges && input.report.has_value_list) return;
  AnalyzeProgram(options, input);
  if (!input.analysis) return;
  input.report = explain::Complete(std::move(input.report), *input.program, *input.analysis).report;
}

bool HasFile(const InputModule& module, DumpFileKind kind) {
  return module.files[static_cast<size_t>(kind)].has_value();
}

// Else it is a program that has to be planned.
bool MayHavePlan(const InputModule& module) {
  return HasFile(module, DumpFileKind::kAssignment) || HasFile(module, DumpFileKind::kModuleProto);
}

}  // namespace

void CompleteReport(const std::string& target, LoadedModule& loaded) {
  PlanInput input;
  input.report = std::move(loaded.report);
  input.program = std::move(loaded.program);
  if (!target.empty()) input.target = FindTarget(target);
  CompleteInput({.inputs = {}, .target = target}, input);
  loaded.report = std::move(input.report);
  loaded.program = std::move(input.program);
}

void AnalyzeProgram(const PlanInputOptions& options, PlanInput& input) {
  if (input.analysis || !input.program) return;
  const std::optional<Rules> rules =
      FindRules(*input.program,
                {.file = FileOf(*input.program),
                 .target = input.target ? std::string(input.target->name) : std::string(),
                 .version = options.version},
                input.report);
  if (!rules) return;
  Result<Analysis> analysis = Analyze(*input.program, rules->analysis);
  if (analysis) input.analysis = *std::move(analysis);
}

std::optional<int64_t> BytesOf(const InputModule& module, const PlanInputOptions& options,
                               Listener& listener) {
  std::optional<report::Report> report;
  if (MayHavePlan(module)) {
    Result<LoadedModule> loaded = Load(module, Program::kLeaveOut);
    if (loaded) report = std::move(loaded->report);
  }
  if (!report) {
    std::optional<PlanInput> planned = LoadPlan(module, options, listener);
    if (!planned) return std::nullopt;
    report = std::move(planned->report);
  }
  const Result<report::Summary> summary = report::Summarize(*report);
  if (summary) return summary->bytes;
  listener.Show(summary.error());
  return std::nullopt;
}

std::optional<PlanInput> LoadPlan(InputModule module, const PlanInputOptions& options,
                                  Listener& listener) {
  AddNeighbours(module);
  FindModuleText(module);
  if (options.is_for_planning && HasFile(module, DumpFileKind::kModuleProto))
    module.file(DumpFileKind::kModuleText).reset();
  std::optional<PlanInput> input;
  const bool has_program =
      HasFile(module, DumpFileKind::kModuleProto) || HasFile(module, DumpFileKind::kModuleText);
  if (!HasFile(module, DumpFileKind::kAssignment) && has_program) {
    input = PlanProgram(std::move(module), options, listener);
  } else {
    Result<LoadedModule> loaded = Load(std::move(module), Program::kRead);
    if (!loaded) {
      listener.Show(loaded.error());
      return std::nullopt;
    }
    listener.Show(loaded->problems);
    input.emplace();
    input->name = std::move(loaded->name);
    input->report = std::move(loaded->report);
    input->program = std::move(loaded->program);
    input->sources = std::move(loaded->sources);
  }
  if (!input) return std::nullopt;
  if (!options.target.empty()) input->target = FindTarget(options.target);
  CompleteInput(options, *input);
  return input;
}

namespace {

// Whether these are files of a program, and none is a report. Its .hlo.pb may hold a plan.
bool IsProgramAlone(const InputModule& module) {
  bool is_program = false;
  for (size_t kind = 0; kind < report::kPairedKinds; ++kind) {
    if (!module.files[kind]) continue;
    is_program = kind >= static_cast<size_t>(DumpFileKind::kModuleText);
    if (!is_program) break;
  }
  return is_program;
}

}  // namespace

std::optional<LoadedModule> LoadOrPlan(InputModule module, const PlanInputOptions& options,
                                       Listener& listener) {
  FindModuleText(module);
  Result<LoadedModule> loaded = Load(module, Program::kRead);
  if (loaded) return *std::move(loaded);
  if (!IsProgramAlone(module)) {
    listener.Show(loaded.error());
    return std::nullopt;
  }
  std::optional<PlanInput> planned = LoadPlan(std::move(module), options, listener);
  if (!planned) return std::nullopt;
  return LoadedModule{.name = std::move(planned->name),
                      .report = std::move(planned->report),
                      .program = std::move(planned->program),
                      .sources = std::move(planned->sources),
                      .is_ours = planned->is_ours,
                      .target = planned->target ? std::string(planned->target->name) : ""};
}

namespace {

// The module that takes most, and its bytes.
struct Largest {
  InputModule module;
  int64_t bytes = 0;
  size_t skipped = 0;  // others that could not be counted
};

// `inputs` loses its modules, and gets leftovers.
std::optional<Largest> LargestPlan(Inputs& inputs, const PlanInputOptions& options,
                                   Listener& listener) {
  const std::vector<InputModule> modules = inputs.modules;
  std::erase_if(inputs.modules, [](const InputModule& module) { return !MayHavePlan(module); });
  const std::vector<ModuleRow> rows = CountModules(inputs, {.target = options.target}, listener);
  const auto bytes = [](const ModuleRow& row) { return row.summary.bytes; };
  const auto largest = std::ranges::max_element(rows, {}, bytes);
  if (largest == rows.end()) return std::nullopt;
  const auto is_it = [&](const InputModule& module) {
    return module.name == largest->name && module.stage == largest->stage;
  };
  return Largest{.module = *std::ranges::find_if(modules, is_it),
                 .bytes = bytes(*largest),
                 .skipped = modules.size() - rows.size()};
}

// The same where no module has a plan: each gets one. What is wrong with the first that gets none
// is left in `first`.
std::optional<Largest> LargestProgram(const std::vector<InputModule>& modules,
                                      const PlanInputOptions& options, const Listener& listener,
                                      Diagnostics& first) {
  std::optional<Largest> largest;
  size_t skipped = 0;
  for (const InputModule& module : modules) {
    Keeper keeper(listener);
    const std::optional<int64_t> bytes = BytesOf(module, options, keeper);
    if (!bytes) {
      ++skipped;
      if (first.empty()) first = keeper.kept();
    } else if (!largest || *bytes > largest->bytes) {
      largest = {.module = module, .bytes = *bytes};
    }
  }
  if (largest) largest->skipped = skipped;
  return largest;
}

// Of many modules one is asked about: that with the most memory.
std::optional<PlanInput> LoadLargest(Inputs inputs, const PlanInputOptions& options,
                                     Listener& listener) {
  const std::vector<InputModule> modules = inputs.modules;
  std::optional<Largest> largest = LargestPlan(inputs, options, listener);
  std::string_view lister = "; `stowplan report` lists them";
  if (listener.speech() == Speech::kPython) lister = "; stowplan.sweep lists them";
  Diagnostics first;
  if (!largest) largest = LargestProgram(modules, options, listener, first);
  if (!largest) {
    ShowLeftovers(inputs, listener);
    listener.Show(first);
    listener.ShowError(
        fmt::format("none of the {} modules has a plan, or can be planned", modules.size()));
    return std::nullopt;
  }
  std::string skipped;
  if (largest->skipped != 0)
    skipped = fmt::format("      ({} skipped: without a plan that can be read, or made)\n",
                          largest->skipped);
  listener.Note(
      fmt::format("note: of {} modules this is the largest, {} with {}\n"
                  "      ({} chooses{})\n{}",
                  modules.size(), largest->module.name, HumanBytes(largest->bytes),
                  listener.Option("module", "NAME"), lister, skipped));
  return LoadPlan(std::move(largest->module), options, listener);
}

}  // namespace

std::optional<PlanInput> FindPlan(const PlanInputOptions& options, Listener& listener) {
  Result<Inputs> inputs = FindInputs(options.inputs);
  if (!inputs) {
    listener.Show(inputs.error());
    return std::nullopt;
  }
  return FindPlan(*std::move(inputs), options, listener);
}

std::optional<PlanInput> FindPlan(Inputs inputs, const PlanInputOptions& options,
                                  Listener& listener) {
  AddPrograms(options.module, inputs);
  if (inputs.modules.empty()) {
    ShowLeftovers(inputs, listener);
    listener.ShowError(
        "there is no plan in " + options.inputs[0],
        "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\" makes XLA write one");
    return std::nullopt;
  }
  if (!FilterModules(options.module, inputs, listener)) return std::nullopt;
  if (inputs.modules.size() == 1) return LoadPlan(std::move(inputs.modules[0]), options, listener);
  return LoadLargest(std::move(inputs), options, listener);
}

}  // namespace stowplan::cli
