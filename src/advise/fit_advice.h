// SPDX-License-Identifier: Apache-2.0
// Advice that comes from session/fit.h: what to compute again for a little more work.
#pragma once

#include <functional>
#include <optional>

#include "advise/advice.h"
#include "session/setting.h"
#include "stowplan/plan.h"
#include "stowplan/session.h"

namespace stowplan::advise {

// For AdviseOptions::recompute: a search of limited effort, in the order that the program has,
// because the user cannot choose another one.
[[nodiscard]] std::function<std::optional<Recomputed>(const hlo::Module&)> Recomputer(
    const PlannedModule& planned, const PlanOptions& plan_options,
    std::function<bool()> should_stop);

// Sets `what`, `how` and `notes`.
void DescribeRecomputed(const Recomputed& recomputed, const Setting& setting, Advice& advice);

}  // namespace stowplan::advise
