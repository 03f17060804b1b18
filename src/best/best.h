// SPDX-License-Identifier: Apache-2.0
// A lower plan than XLA's of the same values: who shares a place with whom, who is alive when,
// sizes and memory spaces stay as they are; temporaries are packed again by pack::Solve, and some
// of them move into buffers of the result while these are free.
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
  // What all allocations of memory space 0 together should fit: when the plan does not, one that
  // does is searched for.
  std::optional<int64_t> memory_limit;
  // Asked from time to time; true ends the search with what there is. When it never is, the plan
  // depends on nothing but the program, the rules and the limit.
  std::function<bool()> should_stop;
  // The search ends with a proof or by `should_stop` alone, not when it has cost enough.
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
