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
  bool certifies = false;           // make a certificate for stowplan-recheck
};
struct Checked {
  PlannedModule planned;
  std::string certificate;  // a section; empty: not asked for, or the plan is not sound
};
// stowplan::Check, with more options and results.
Result<Checked> CheckPlanned(PlannedModule planned, const PlanOptions& options,
                             const CheckRequest& request);

// The verdict on a plan that Stowplan made, by executing the program.
Verdict VerdictOn(const hlo::Module& module, const report::Report& report, const Target& target);

// Returns the plan if its verdict or the options allow that; otherwise fails and says why.
Result<PlannedModule> LetOut(PlannedModule made, const Prepared& prepared,
                             const Assignment& assignment, const PlanOptions& options);

// Where the files differ from what is computed, and signs that a file may be cut off.
Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan
