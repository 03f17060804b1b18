// SPDX-License-Identifier: Apache-2.0
// What can be said about an order in a fraction of a second: simple orders and a few cuts.
#pragma once

#include "order/problem.h"
#include "order/solve.h"

namespace stowplan::order {

// Takes an effort near linear in the size of the problem. The answer depends on the problem alone.
Answer SolveQuickly(const Problem& problem);

}  // namespace stowplan::order
