// SPDX-License-Identifier: Apache-2.0
// A computation as a task: which of its instructions may be computed again, and what that costs.
#pragma once

#include <span>
#include <vector>

#include "cost/work.h"
#include "fit/task.h"
#include "order/find_problem.h"
#include "order/graph.h"

namespace stowplan::fit {

// By instruction of the module: whether it computes the same whenever it runs and does nothing
// else.
std::vector<uint8_t> FindPure(const hlo::Module& module);

// By node: whether it may be computed again, as far as its instruction says. What it writes over is
// not looked at.
std::vector<uint8_t> FindRepeatable(const order::Surroundings& around, const order::Graph& graph,
                                    const order::Problem& problem);

// `costs`: by instruction.
Task FindTask(const order::Surroundings& around, const order::Graph& graph,
              std::span<const double> costs);

}  // namespace stowplan::fit
