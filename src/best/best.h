// SPDX-License-Identifier: Apache-2.0
// A plan lower than XLA's for the same values. Sharing, live ranges, sizes and memory spaces stay
// as they are. pack::Solve packs the temporaries again, and some of them move into buffers of the
// result while these are free.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "assign/assignment.h"
#include "assign/rules.h"
#include "live/analysis.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/best/heap.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

struct BestOptions {
  // What all allocations of memory space 0 together should fit into. If the plan does not fit, the
  // solver searches for one that does.
  std::optional<int64_t> memory_limit;
  // Called from time to time; true ends the search with the best plan so far. If it is never true,
  // the plan depends only on the program, the rules and the limit.
  std::function<bool()> should_stop;
  // The search ends only with a proof or by `should_stop`, not after a fixed effort.
  bool searches_on = false;
};

struct BestPlan {
  Assignment assignment;
  std::vector<BestHeap> heaps;  // by color; without preset spaces
};

// Fails when Assign does. Spaces in which nothing lower is found keep XLA's plan.
Result<BestPlan> AssignBest(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
                            const std::optional<Preset>& preset, const BestOptions& options);

// All allocations of memory space 0 together.
int64_t MainMemory(const Assignment& assignment);

}  // namespace stowplan
