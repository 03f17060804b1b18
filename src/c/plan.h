// SPDX-License-Identifier: Apache-2.0
// The handles around stowplan/session.h.
#pragma once

#include <string>
#include <vector>

#include "c/messages.h"
#include "stowplan/session.h"
#include "stowplan/stowplan_c.h"

struct stowplan_inputs {
  stowplan::Inputs inputs;
};

struct stowplan_plan_options {
  stowplan::PlanOptions options;
};

// Everything that the interface tells is computed when the plan is made: afterwards, several
// threads may read it.
struct stowplan_plan {
  stowplan::PlannedModule planned;
  std::string target;
  stowplan_messages notes;
  std::vector<std::string> findings;
  std::vector<stowplan_space> spaces;
  std::vector<stowplan_heap> heaps;
};

struct stowplan_reports {
  std::vector<stowplan::ReportFile> files;
};
