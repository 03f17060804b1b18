// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assign/assignment.h"
#include "assign/rules.h"

namespace stowplan {

// The end of an assignment: the temporaries of a memory space become one block, after all others,
// and allocations get their numbers.
void CombineTemporaries(Assignment& assignment, const Rules& rules);

}  // namespace stowplan
