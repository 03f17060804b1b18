// SPDX-License-Identifier: Apache-2.0
#include "advise/plan.h"

#include <algorithm>
#include <utility>

#include "report/peak.h"
#include "session/check.h"

namespace stowplan::advise {

SpaceFigures Figures::Space(int64_t color) const {
  const auto found = std::ranges::lower_bound(spaces, color, {}, &SpaceFigures::color);
  return found == spaces.end() || found->color != color ? SpaceFigures{.color = color} : *found;
}

Result<Figures> FiguresOf(const report::Report& report) {
  // Fails when the sum of all sizes is too large; no sum below can overflow after that.
  STOWPLAN_TRY(const report::TruePeak peak, report::ComputeTruePeak(report));
  Figures figures;
  for (const report::SpacePeak& space : peak.spaces)
    figures.spaces.push_back({.color = space.color, .peak = space.peak.bytes});
  for (const report::Allocation& allocation : report.allocations.rows()) {
    if (allocation.is_thread_local) continue;
    figures.bytes += allocation.size;
    // Has every memory space with an allocation.
    std::ranges::lower_bound(figures.spaces, allocation.color, {}, &SpaceFigures::color)->bytes +=
        allocation.size;
    if (allocation.parameter) figures.argument += allocation.size;
    if (allocation.is_maybe_live_out) figures.output += allocation.size;
    if (allocation.parameter && allocation.is_maybe_live_out) figures.alias += allocation.size;
    if (!allocation.parameter && !allocation.is_maybe_live_out && !allocation.is_constant)
      figures.temp += allocation.size;
  }
  return figures;
}

Result<Plan> PlanOf(const hlo::Module& module, const Setting& setting,
                    const std::optional<Preset>& preset) {
  Plan plan;
  STOWPLAN_TRY(plan.tried, TryPlan(module, setting, preset));
  STOWPLAN_TRY(plan.figures, FiguresOf(plan.tried.made.report));
  return plan;
}

std::string WhyUnsound(const hlo::Module& module, const MadePlan& made, const Setting& setting) {
  const Verdict verdict = VerdictOn(module, made.report, setting.rules.target);
  switch (verdict.soundness) {
    case Soundness::kSound:
      return {};
    case Soundness::kUnsound:
      return verdict.findings[0].message;
    case Soundness::kUnchecked:
      break;
  }
  return verdict.reason;
}

}  // namespace stowplan::advise
