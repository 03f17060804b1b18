// SPDX-License-Identifier: Apache-2.0
#include "session/load.h"

#include <memory>
#include <utility>

#include "base/suggest.h"
#include "explain/complete.h"
#include "explain/source_root.h"
#include "hlo/verify.h"
#include "report/from_proto.h"
#include "schedule/make_schedule.h"
#include "session/make_plan.h"
#include "session/module_errors.h"
#include "session/note.h"
#include "session/sequence.h"

namespace stowplan {
namespace {

using report::DumpFileKind;

// For a module's file without reports beside it. It may contain a plan; otherwise one is made.
Result<PlannedModule> LoadProgram(const InputModule& module, const InputFiles& files,
                                  const PlanOptions& options) {
  const DumpFileKind kind = files.has(DumpFileKind::kModuleProto) ? DumpFileKind::kModuleProto
                                                                  : DumpFileKind::kModuleText;
  STOWPLAN_TRY(const std::shared_ptr<const Source> source, Read(*files.file(kind)));
  Result<hlo::Module> parsed = ParseModule(source);
  if (!parsed) return std::unexpected(ExplainModuleErrors(std::move(parsed).error()));
  PlannedModule planned;
  planned.name = module.name;
  Diagnostics warnings = parsed->warnings;
  planned.module = std::make_shared<const hlo::Module>(*std::move(parsed));
  if (planned.module->buffer_assignment.size != 0) {
    Result<report::Report> report = report::ReportFromModule(*planned.module);
    if (!report) return FailAfter(std::move(warnings), std::move(report).error());
    planned.report = std::make_shared<const report::Report>(*std::move(report));
    planned.notes = std::move(warnings);
    return planned;
  }
  PlanOptions as_xla = options;
  as_xla.policy = Policy::kXla;
  // A caller in Python may not want one.
  const std::string_view lead = options.speech == Speech::kPython
                                    ? "planned as XLA does"
                                    : "there is no plan, so one is made as XLA does";
  Result<PlannedModule> made = PlanSaying(lead, planned, as_xla);
  if (!made) return FailAfter(std::move(warnings), std::move(made).error());
  Append(std::move(made->notes), warnings);
  made->notes = std::move(warnings);
  return made;
}

Result<PlannedModule> LoadFiles(const InputModule& module, InputFiles files,
                                const PlanOptions& options) {
  FindModuleText(files);
  if (options.prefers_proto && files.has(DumpFileKind::kModuleProto))
    files.file(DumpFileKind::kModuleText).reset();
  const bool is_given = files.has(DumpFileKind::kAssignment) || !files.has_program();
  STOWPLAN_TRY(PlannedModule planned, is_given
                                          ? LoadGiven(module, std::move(files), ReadProgram::kYes)
                                          : LoadProgram(module, files, options));
  if (!planned.target)
    planned.target = ResolveTarget(
        options.target, {.module = planned.module.get(), .report = planned.report.get()});
  if (is_given && planned.module && planned.target && !IsScheduled(*planned.module)) {
    if (std::optional<hlo::Module> scheduled =
            FollowSequence(*planned.module, *planned.report, *planned.target))
      planned.module = std::make_shared<const hlo::Module>(*std::move(scheduled));
  }
  return planned;
}

// The setting of a given plan; absent if it cannot be determined, or if the program cannot be
// analysed.
std::optional<Setting> SettingOf(const PlannedModule& planned, const PlanOptions& options) {
  if (!planned.module || !IsScheduled(*planned.module)) return std::nullopt;
  if (!hlo::Verify(*planned.module).empty()) return std::nullopt;
  PlanOptions wanted = options;
  if (wanted.target.empty() && planned.target) wanted.target = planned.target->name;
  if (wanted.release.empty()) wanted.release = planned.release;
  Result<Setting> setting =
      Settle({.module = planned.module.get(), .report = planned.report.get()}, wanted);
  if (!setting) return std::nullopt;
  return *std::move(setting);
}

}  // namespace

Result<PlannedModule> LoadAsIs(const InputModule& module, const PlanOptions& options) {
  return LoadFiles(module, *module.files, options);
}

Result<PlannedModule> LoadBeside(const InputModule& module, const PlanOptions& options) {
  InputFiles files = *module.files;
  AddNeighbours(files);
  return LoadFiles(module, std::move(files), options);
}

Result<PlannedModule> Load(const InputModule& module, const PlanOptions& options) {
  STOWPLAN_TRY([[maybe_unused]] const bool ok, explain::CheckRoot(options.own.source_root));
  STOWPLAN_TRY(PlannedModule planned, LoadBeside(module, options));
  return Completed(std::move(planned), options);
}

PlannedModule Analyzed(PlannedModule planned, const PlanOptions& options) {
  if (planned.analysis) return planned;
  const std::optional<Setting> setting = SettingOf(planned, options);
  if (!setting) return planned;
  Result<Analysis> analysis = Analyze(*planned.module, setting->rules.analysis);
  if (analysis) planned.analysis = std::make_shared<const Analysis>(*std::move(analysis));
  return planned;
}

PlannedModule Completed(PlannedModule planned, const PlanOptions& options) {
  if (!planned.module || !planned.report->has_assignment) return planned;
  if (planned.report->live_ranges && planned.report->has_value_list) return planned;
  planned = Analyzed(std::move(planned), options);
  if (!planned.analysis) return planned;
  planned.report = std::make_shared<const report::Report>(
      explain::Complete(*planned.report, *planned.module, *planned.analysis).report);
  return planned;
}

std::optional<Temporaries> FindTemporaries(const PlannedModule& planned,
                                           const PlanOptions& options) {
  const std::optional<Setting> setting = SettingOf(planned, options);
  if (!setting) return std::nullopt;
  const Result<Analysis> analysis = Analyze(*planned.module, setting->rules.analysis);
  if (!analysis) return std::nullopt;
  const Prepared prepared = {.module = planned.module,
                             .setting = *setting,
                             .analysis = std::make_shared<const Analysis>(*analysis),
                             .notes = {}};
  // If XLA's places in fast memory are unknown, ours will do: the figures need only sizes.
  const Result<std::optional<Preset>> preset = FindPreset(prepared, planned, {});
  const Result<Assignment> assignment =
      Assign(*planned.module, *prepared.analysis, setting->rules, preset ? *preset : std::nullopt);
  if (!assignment) return std::nullopt;
  return TemporariesOf(*planned.module, *prepared.analysis, *assignment);
}

}  // namespace stowplan
