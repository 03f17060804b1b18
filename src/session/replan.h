// SPDX-License-Identifier: Apache-2.0
// A report's plan made again without the program (report/replan.h), for the right machine and
// release, and checked.
#pragma once

#include "report/replan.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

struct Replanned {
  report::Replan replan;
  Target target;
  std::string release;  // empty: the newest
};
// Fails, too, when the new plan is not sound by its own live ranges.
Result<Replanned> Replan(const PlannedModule& given, const PlanOptions& options);

}  // namespace stowplan
