// SPDX-License-Identifier: Apache-2.0
#include "advise/plan.h"

#include <algorithm>
#include <utility>

#include "check/check.h"
#include "hlo/verify.h"
#include "report/peak.h"

namespace stowplan::advise {

SpaceFigures Figures::Space(int64_t color) const {
  const auto found = std::ranges::lower_bound(spaces, color, {}, &SpaceFigures::color);
  return found == spaces.end() || found->color != color ? SpaceFigures{.color = color} : *found;
}

Result<Figures> FiguresOf(const report::Report& report) {
  // Fails when the sum of all sizes is too large; so do none of the sums below.
  STOWPLAN_TRY(const report::TruePeak peak, report::ComputeTruePeak(report));
  Figures figures;
  for (const report::SpacePeak& space : peak.spaces)
    figures.spaces.push_back({.color = space.color, .peak = space.peak.bytes});
  for (const report::Allocation& allocation : report.allocations.rows()) {
    if (allocation.is_thread_local) continue;
    figures.bytes += allocation.size;
    // Each memory space with an allocation is there.
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
  if (Diagnostics complaints = hlo::Verify(module); !complaints.empty())
    return std::unexpected(std::move(complaints));
  Plan plan;
  STOWPLAN_TRY(plan.analysis, Analyze(module, setting.rules.analysis));
  STOWPLAN_TRY(plan.assignment, Assign(module, plan.analysis, setting.rules, preset));
  if (Diagnostics overlaps = FindOverlaps(module, plan.analysis, plan.assignment);
      !overlaps.empty())
    return std::unexpected(std::move(overlaps));
  plan.report = report::ReportOf(module, plan.analysis, plan.assignment, setting.style);
  STOWPLAN_TRY(plan.figures, FiguresOf(plan.report));
  return plan;
}

std::string WhyUnsound(const hlo::Module& module, const Plan& plan, const Setting& setting) {
  const Result<check::Verdict> verdict =
      check::CheckPlan(module, plan.report, setting.rules.target);
  if (!verdict) return verdict.error()[0].message;
  return verdict->is_sound() ? std::string() : verdict->findings[0].message;
}

}  // namespace stowplan::advise
