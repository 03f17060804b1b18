// SPDX-License-Identifier: Apache-2.0
// The plan of policy `best` for a program whose plan is there already.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "best/best.h"
#include "cli/listener.h"
#include "cli/plan_input.h"
#include "stowplan/report/report.h"
#include "target/target.h"

namespace stowplan::cli {

struct BestLimits {
  std::optional<int64_t> memory;  // that memory space 0 should fit into
  std::optional<double> seconds;  // to search for
};

struct BestInput {
  report::Report report;
  std::vector<BestHeap> heaps;
  Target target;
};

// Needs the program, and its schedule; fills the input's analysis. Nothing, and messages, when
// there is no such plan, or none that the checker finds sound.
std::optional<BestInput> PlanBest(PlanInput& input, const PlanInputOptions& options,
                                  const BestLimits& limits, Listener& listener);

}  // namespace stowplan::cli
