// SPDX-License-Identifier: Apache-2.0
// The verdict on a plan, given or made.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "assign/assignment.h"
#include "session/make_plan.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

struct CheckRequest {
  std::string_view neighbour = {};  // the machine of another module of the same dump
  bool certifies = false;           // write down what was done, for stowplan-recheck
};
struct Checked {
  PlannedModule planned;
  std::string certificate;  // a section; empty: not asked for, or the plan is not sound
};
// What stowplan::Check does, and more of it.
Result<Checked> CheckPlanned(PlannedModule planned, const PlanOptions& options,
                             const CheckRequest& request);

// The verdict on a plan of Stowplan's own, by executing the program.
Verdict VerdictOn(const hlo::Module& module, const report::Report& report, const Target& target);

// The plan that was made, if its verdict or the options let it out; else why not.
Result<PlannedModule> LetOut(PlannedModule made, const Prepared& prepared,
                             const Assignment& assignment, const PlanOptions& options);

// What the files say that differs from what is computed, and what makes one of them doubtful.
Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan
