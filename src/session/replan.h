// SPDX-License-Identifier: Apache-2.0
// Repeats a report's plan without the program (report/replan.h), for the right machine and release,
// and checks it.
#pragma once

#include "report/replan.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

struct Replanned {
  report::Replan replan;
  Target target;
  std::string release;  // empty: the newest
  Diagnostics notes;
};
// If no release is named, the newest by whose rules the report comes back is taken. Also fails if
// the new plan is not sound by its own live ranges.
Result<Replanned> Replan(const PlannedModule& given, const PlanOptions& options);

}  // namespace stowplan
