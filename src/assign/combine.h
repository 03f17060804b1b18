// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "assign/assignment.h"
#include "assign/rules.h"

namespace stowplan {

// Allocations in the order of their numbers: first what is no temporary, then the temporaries, in
// the order in which they are combined.
std::vector<AllocationId> CombiningOrder(const Assignment& assignment);

// The end of an assignment: the temporaries of a memory space become one block, after all others,
// and allocations get their numbers.
void CombineTemporaries(Assignment& assignment, const Rules& rules);

}  // namespace stowplan
