// SPDX-License-Identifier: Apache-2.0
// A module in the order of least memory: its entry, and what it calls.
#pragma once

#include <functional>
#include <vector>

#include "assign/rules.h"
#include "order/find_problem.h"
#include "order/graph.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::order {

struct ReorderOptions {
  Overlap overlap = Overlap::kKeep;
  Objective objective = Objective::kAll;
  std::function<bool()> should_stop;
};

// What became of a computation.
struct ReorderedComputation {
  hlo::CompId computation;
  int64_t given_peak = 0;
  int64_t peak = 0;
  int64_t bound = 0;  // no order of the computation has a lower peak
  hlo::InstrId witness;
};

struct Reordered {
  hlo::Module module;
  std::vector<ReorderedComputation> computations;  // callees first; the entry is last
};

// Requires a scheduled module without complaints (hlo::Verify).
Result<Reordered> Reorder(const hlo::Module& module, const Rules& rules,
                          const ReorderOptions& options);

}  // namespace stowplan::order
