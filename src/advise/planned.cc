// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "advise/advice.h"
#include "advise/fit_advice.h"
#include "base/human_bytes.h"
#include "schedule/make_schedule.h"
#include "session/make_plan.h"

namespace stowplan::advise {
namespace {

// Savings are differences between two plans of Stowplan's; the given plan can differ from both.
void NoteOtherPlan(const PlannedModule& planned, const Setting& setting, AdviceReport& report) {
  const Result<Figures> given = FiguresOf(*planned.report);
  if (!given) return;
  const int64_t theirs = given->Space(report.space).bytes;
  const int64_t ours = report.before.Space(report.space).bytes;
  if (theirs == ours) return;
  report.unknown.push_back(fmt::format(
      "The given plan takes {}; Stowplan's, by the rules of {}, takes {}. Savings are relative to "
      "the latter.",
      HumanAndExactBytes(theirs), setting.release, HumanAndExactBytes(ours)));
}

}  // namespace

Result<AdviceReport> AdvisePlanned(const PlannedModule& planned, const PlanOptions& plan_options,
                                   AdviseOptions options) {
  if (!planned.module)
    return Fail("stowplan", "advice needs the program itself, but there are only reports",
                "also give the module (.txt or .hlo.pb)");
  if (!IsScheduled(*planned.module))
    return Fail("stowplan", "advice needs a scheduled program",
                "give the module from after optimizations, not from before");
  STOWPLAN_TRY(const Prepared prepared, Prepare(planned, plan_options));
  // For a given plan, only the module's own file tells XLA's places in fast memory.
  PlannedModule program = planned;
  program.report = nullptr;
  if (Result<std::optional<Preset>> preset = FindPreset(prepared, program, plan_options); preset)
    options.preset = *std::move(preset);
  options.own = plan_options.own;
  options.least = 0.001;  // less is noise to a reader
  options.recompute = Recomputer(planned, plan_options, options.should_stop);
  STOWPLAN_TRY(AdviceReport report, Advise(*prepared.module, prepared.setting, options));
  NoteOtherPlan(planned, prepared.setting, report);
  const std::string file = planned.module->source ? planned.module->source->name() : planned.name;
  for (Advice& advice : report.advice) {
    if (advice.edits[0].kind != EditKind::kPack) continue;
    advice.how = plan_options.speech == Speech::kPython ? "stowplan.assign(r, policy=\"best\")"
                                                        : advice.how + " " + file;
  }
  return report;
}

}  // namespace stowplan::advise
