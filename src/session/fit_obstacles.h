// SPDX-License-Identifier: Apache-2.0
// What stands in the way of less memory.
#pragma once

#include "assign/rules.h"
#include "session/fit.h"
#include "stowplan/plan.h"

namespace stowplan {

// What fills memory space 0 when the program needs the most of it, by what keeps it there. Needs
// the analysis of `planned`. Adds nothing if that does not allow an answer.
void AddObstacles(const PlannedModule& planned, const Rules& rules, const OwnCode& own,
                  FitFacts& facts);

}  // namespace stowplan
