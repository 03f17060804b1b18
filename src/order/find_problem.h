// SPDX-License-Identifier: Apache-2.0
// A computation as a problem: what must lie in memory while each of its instructions runs, as the
// planner has it.
#pragma once

#include <cstdint>
#include <vector>

#include "assign/rules.h"
#include "assign/sizes.h"
#include "live/analysis.h"
#include "order/graph.h"
#include "order/problem.h"

namespace stowplan::order {

// What counts. Temporaries may lie in a buffer of the result while that is free, so neither of the
// two is right for every program.
enum class Objective : uint8_t {
  kAll,          // temporaries, parts of the result and donated parameters
  kTemporaries,  // only these
};
inline constexpr Objective kObjectives[] = {Objective::kAll, Objective::kTemporaries};

struct Surroundings {
  const hlo::Module& module;
  const Analysis& analysis;
  const Rules& rules;
  const BufferSizes& measured;
};

// The inner bytes of nodes that call computations are those of the order in which these are now.
Problem FindProblem(const Surroundings& around, const Graph& graph, Objective objective);

}  // namespace stowplan::order
