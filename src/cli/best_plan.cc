// SPDX-License-Identifier: Apache-2.0
#include "cli/best_plan.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "check/check.h"
#include "cli/deadline.h"
#include "cli/plan_setting.h"
#include "cli/report_text.h"
#include "hlo/verify.h"
#include "report/from_assignment.h"
#include "report/replan.h"
#include "schedule/make_schedule.h"
#include "target/guess.h"

namespace stowplan::cli {
namespace {

// Whether there is a program that can be planned again.
bool HasProgram(const PlanInput& input, Listener& listener) {
  const std::string name = Printable(input.name);
  if (!input.program) {
    listener.ShowError(
        "policy best needs the program of `" + name + "`, and only its plan is there",
        "give the module's text or .hlo.pb beside the report, or a dump directory; "
        "XLA_FLAGS=--xla_dump_hlo_as_text makes XLA write it");
    return false;
  }
  if (!IsScheduled(*input.program)) {
    listener.ShowError(
        "the program of `" + name + "` has no schedule, so it cannot be planned again",
        "that of the last stage has one: after_optimizations");
    return false;
  }
  const Diagnostics complaints = hlo::Verify(*input.program);
  listener.Show(complaints);
  return complaints.empty();
}

// For which machine, by the rules of which XLA; as AnalyzeProgram finds them.
std::optional<Setting> SettingOf(const PlanInput& input, const PlanInputOptions& options,
                                 Listener& listener) {
  PlanOptions plan = {.file = input.program->source ? input.program->source->name() : std::string(),
                      .target = options.target,
                      .version = options.version};
  if (plan.target.empty() && input.target) plan.target = input.target->name;
  if (plan.target.empty() && !GuessTarget(*input.program, plan.file).target) {
    if (const std::optional<Target> target = report::FindReportTarget(input.report))
      plan.target = target->name;
  }
  return Settle(*input.program, plan, listener);
}

Result<std::optional<Preset>> PresetOf(const PlanInput& input, const Rules& rules) {
  if (rules.preset_space < 0) return std::nullopt;
  if (input.is_ours) return FindPreset(*input.program, *input.analysis, rules, {});
  return report::PresetFrom(*input.program, *input.analysis, input.report, rules.preset_space);
}

// The plan that is there should be the one that the rules lead to: it shows whether the version was
// found.
void NoteOtherPlan(const PlanInput& input, const BestInput& best, const Setting& setting,
                   Listener& listener) {
  std::map<int64_t, int64_t> temporaries;  // by memory space
  for (const report::Allocation& allocation : input.report.allocations.rows()) {
    if (!allocation.is_temp()) continue;
    int64_t& sum = temporaries[allocation.color];  // MakePicture will see whether it fits
    sum = CheckedAdd(sum, allocation.size).value_or(INT64_MAX);
  }
  for (const BestHeap& heap : best.heaps) {
    const int64_t bytes = temporaries[heap.color];
    if (bytes == heap.xla_bytes) continue;
    listener.Note(fmt::format(
        "note: the temporaries of memory space {} take {} in the plan that is there, and {}\n"
        "      by the rules of {}; {} names another release\n",
        heap.color, HumanAndExactBytes(bytes), HumanAndExactBytes(heap.xla_bytes), setting.version,
        listener.Option("xla-version", "")));
  }
}

bool IsSound(const PlanInput& input, const BestPlan& plan, const BestInput& best,
             Listener& listener) {
  Diagnostics overlaps = FindOverlaps(*input.program, *input.analysis, plan.assignment);
  listener.Show(overlaps);
  if (overlaps.empty()) {
    const Result<check::Verdict> verdict =
        check::CheckPlan(*input.program, best.report, best.target);
    if (!verdict)
      listener.Note("note: the plan was not checked: " + verdict.error()[0].message + "\n");
    if (!verdict || verdict->is_sound()) return true;
    listener.Note(check::Describe(verdict->findings[0]));
  }
  listener.ShowError("the plan of policy best is not sound, so it is not shown",
                     "`stowplan check` says whether the one that is there is");
  return false;
}

}  // namespace

std::optional<BestInput> PlanBest(PlanInput& input, const PlanInputOptions& options,
                                  const BestLimits& limits, Listener& listener) {
  const auto refuse = [&](const Diagnostics& errors) {
    listener.Show(errors);
    return std::nullopt;
  };
  if (!HasProgram(input, listener)) return std::nullopt;
  const std::optional<Setting> setting = SettingOf(input, options, listener);
  if (!setting) return std::nullopt;
  if (!input.analysis) {
    Result<Analysis> analysis = Analyze(*input.program, setting->rules.analysis);
    if (!analysis) return refuse(analysis.error());
    input.analysis = *std::move(analysis);
  }
  const Result<std::optional<Preset>> preset = PresetOf(input, setting->rules);
  if (!preset) return refuse(preset.error());
  Result<BestPlan> plan =
      AssignBest(*input.program, *input.analysis, setting->rules, *preset,
                 {.memory_limit = limits.memory,
                  .should_stop = limits.seconds ? StopAfter(*limits.seconds) : nullptr,
                  .searches_on = limits.seconds.has_value()});
  if (!plan) return refuse(plan.error());
  BestInput best = {
      .report = report::ReportOf(*input.program, *input.analysis, plan->assignment, setting->style),
      .heaps = std::move(plan->heaps),
      .target = setting->rules.target};
  if (!IsSound(input, *plan, best, listener)) return std::nullopt;
  NoteOtherPlan(input, best, *setting, listener);
  return best;
}

}  // namespace stowplan::cli
