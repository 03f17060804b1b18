// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_setting.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/names.h"
#include "cli/suggest.h"
#include "hlo/verify.h"
#include "live/choose_schedule.h"
#include "report/from_proto.h"
#include "report/read.h"
#include "report/replan.h"
#include "report/summary.h"
#include "schedule/make_schedule.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/read.h"
#include "target/guess.h"
#include "target/transfer_flags.h"

namespace stowplan::cli {

bool CheckVersion(const std::string& version, Listener& listener) {
  if (version.empty() || report::FindReportStyle(version)) return true;
  listener.ShowError("there is no XLA `" + version + "`", DidYouMeanOneOf(version, VersionNames()));
  return false;
}

std::optional<Setting> Settle(const hlo::Module& module, const PlanOptions& options,
                              Listener& listener) {
  const TargetGuess guess = GuessTarget(module, options.file);
  std::optional<Target> target = guess.target;
  std::string_view reason = guess.reason;
  if (!options.target.empty()) {
    target = FindTarget(options.target);
    reason = listener.CallerName();
  }
  if (!target) {
    if (guess.backend == Backend::kTpu) {
      listener.ShowError("this is a program for a TPU, but not of which generation",
                         fmt::format("say {}, or another generation: v2, v3, v4, v5p, v6e, v7x",
                                     listener.Option("target", "tpu-v5e")));
    } else {
      listener.ShowError(
          "the module does not show for which machine it was compiled",
          fmt::format("say {}, gpu, tpu-v5e, ...", listener.Option("target", "cpu")));
    }
    return std::nullopt;
  }
  const Backend backend = report::BackendOfTarget(target->name);
  std::string version = options.version;
  if (version.empty()) version = GuessVersion(module, backend);
  if (!CheckVersion(version, listener)) return std::nullopt;
  version = hlo::KnownRelease(version);
  Setting setting = {.rules = RulesOf(*target, version),
                     .version = version,
                     .style = *report::FindReportStyle(version),
                     .words = fmt::format("target {} by {},{}rules of {}{}", target->name, reason,
                                          options.version.empty() ? "\n      " : " ", version,
                                          options.version.empty()
                                              ? fmt::format(", the newest that fits ({} chooses)",
                                                            listener.Option("xla-version", ""))
                                              : "")};
  if (options.heap_limit) setting.rules.heap_limit = *options.heap_limit;
  if (!options.dialect.empty()) {
    const std::optional<report::ReportStyle> other = report::FindReportStyle(options.dialect);
    if (!other) {
      std::string hint = DidYouMean(options.dialect, VersionNames());
      if (hint.empty()) hint = "`stowplan report --dialect=list` shows them";
      listener.ShowError("there is no dialect `" + options.dialect + "`", hint);
      return std::nullopt;
    }
    setting.style = *other;
  }
  return setting;
}

namespace {

// The report at `path`: a report file, or the assignment inside a .hlo.pb.
Result<report::Report> ReadPresetReport(const std::string& path) {
  STOWPLAN_TRY(const std::shared_ptr<const Source> source, ReadSource(path));
  if (report::KindOf(*source) != report::FileKind::kUnknown) {
    const std::shared_ptr<const Source> sources[] = {source};
    return report::ReadReport(sources);
  }
  STOWPLAN_TRY(const hlo::Module module, ParseModule(source));
  return report::ReportFromModule(module);
}

}  // namespace

Result<std::optional<Preset>> FindPreset(const hlo::Module& module, const Analysis& analysis,
                                         const Rules& rules, const PlanOptions& options) {
  if (rules.preset_space < 0) return std::nullopt;
  if (!options.preset.empty()) {
    STOWPLAN_TRY(const report::Report report, ReadPresetReport(options.preset));
    return report::PresetFrom(module, analysis, report, rules.preset_space);
  }
  if (module.buffer_assignment.size == 0) return std::nullopt;
  // A module's own answer is a help, not a part of the program: what cannot be read is left alone.
  const Result<report::Report> report = report::ReportFromModule(module);
  if (!report) return std::nullopt;
  return report::PresetFrom(module, analysis, *report, rules.preset_space).value_or(std::nullopt);
}

Result<hlo::Module> Scheduled(const hlo::Module& module, const Rules& rules,
                              const PlanOptions& options, Listener& listener) {
  STOWPLAN_TRY(ScheduleChoice choice, ChooseSchedule(module, rules.target, rules.analysis,
                                                     FindScheduler(options.scheduler)));
  if (options.scheduler.empty()) {
    listener.Note(fmt::format("note: the module has no schedule; planned for the order `{}`{}\n",
                              Name(choice.scheduler),
                              listener.speech() == Speech::kCommandLine
                                  ? "\n      (`stowplan assign --schedule=KIND` chooses)"
                                  : ""));
  }
  for (const ScheduleChoice::Peak& peak : choice.peaks) {
    if (!options.has_stats) break;
    listener.Note(fmt::format("schedule {}: peak {} ({})\n", Name(peak.scheduler),
                              HumanBytes(peak.bytes), peak.bytes));
  }
  return std::move(choice.module);
}

std::optional<PlannedModule> PlanAsXla(hlo::Module module, const PlanOptions& options,
                                       Listener& listener) {
  const auto refuse = [&](const Diagnostics& errors) {
    listener.Show(errors);
    return std::nullopt;
  };
  if (const Diagnostics complaints = hlo::Verify(module); !complaints.empty())
    return refuse(complaints);
  std::optional<Setting> setting = Settle(module, options, listener);
  if (!setting) return std::nullopt;
  // In Python it may be that one was not wanted.
  const bool is_missing = listener.speech() == Speech::kCommandLine;
  listener.Note(fmt::format("note: {} made as XLA does,\n      {}\n",
                            is_missing ? "there is no plan; it is" : "the plan is",
                            setting->words));
  module = WithTransferFlags(std::move(module), setting->rules.target);
  if (!IsScheduled(module)) {
    Result<hlo::Module> scheduled = Scheduled(module, setting->rules, options, listener);
    if (!scheduled) return refuse(scheduled.error());
    module = *std::move(scheduled);
  }
  Result<Analysis> analysis = Analyze(module, setting->rules.analysis);
  if (!analysis) return refuse(analysis.error());
  const Result<std::optional<Preset>> preset =
      FindPreset(module, *analysis, setting->rules, options);
  if (!preset) return refuse(preset.error());
  const Result<Assignment> plan = Assign(module, *analysis, setting->rules, *preset);
  if (!plan) return refuse(plan.error());
  report::Report report = report::ReportOf(module, *analysis, *plan, setting->style);
  return PlannedModule{.module = std::move(module),
                       .analysis = *std::move(analysis),
                       .setting = *std::move(setting),
                       .report = std::move(report)};
}

std::optional<Rules> FindRules(const hlo::Module& module, const PlanOptions& options,
                               const report::Report& report) {
  if (!IsScheduled(module) || !hlo::Verify(module).empty()) return std::nullopt;
  std::optional<Target> target = FindTarget(options.target);
  if (!target) target = GuessTarget(module, options.file).target;
  if (!target) target = report::FindReportTarget(report);
  if (!target) return std::nullopt;
  std::string version = options.version;
  if (version.empty()) version = GuessVersion(module, report::BackendOfTarget(target->name));
  return RulesOf(*target, version);
}

std::optional<Temporaries> FindTemporaries(const hlo::Module& module, const PlanOptions& options,
                                           const report::Report& report) {
  const std::optional<Rules> found = FindRules(module, options, report);
  if (!found) return std::nullopt;
  const Rules& rules = *found;
  const Result<Analysis> analysis = Analyze(module, rules.analysis);
  if (!analysis) return std::nullopt;
  // Without places in fast memory ours do: figures count sizes alone.
  Result<std::optional<Preset>> preset = FindPreset(module, *analysis, rules, {});
  if (preset && !*preset && rules.preset_space >= 0)
    preset = report::PresetFrom(module, *analysis, report, rules.preset_space);
  const Result<Assignment> assignment =
      Assign(module, *analysis, rules, preset ? *preset : std::nullopt);
  if (!assignment) return std::nullopt;
  return TemporariesOf(module, *analysis, *assignment);
}

}  // namespace stowplan::cli
