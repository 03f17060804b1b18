// SPDX-License-Identifier: Apache-2.0
// The packer: a plan, a bound below which there is no plan, and what that proves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "stowplan/pack/problem.h"

namespace stowplan::pack {

enum class Status : uint8_t {
  kOptimal,     // no plan is lower
  kFeasible,    // lower ones may exist, down to the bound
  kInfeasible,  // proved: no plan fits the capacity
  kUndecided,   // neither a plan within the capacity nor a proof
};
std::string_view Name(Status status);

struct SolveOptions {
  std::optional<int64_t> capacity;  // stop at the first plan that fits
  uint64_t seed = 1;
  int threads = 1;           // without should_stop, the plan is the same for any number
  std::string_view solver;   // one of SolverNames() alone; empty: all, as they are needed
  int64_t effort = 1 << 18;  // nodes of the exact search, all together
  // Called from time to time; true ends the search with the best plan so far. Without it, the
  // answer depends only on the problem and the other options.
  std::function<bool()> should_stop;
  // Called with each better plan.
  std::function<void(const Plan& plan, int64_t bound)> on_plan;
};

struct Answer {
  Status status = Status::kUndecided;
  Plan plan;  // the lowest found; with kInfeasible and kUndecided it is above the capacity
  LoadBound load;
  int64_t bound = 0;  // no plan is lower than this: the load, or more if that was proved
  // If the bound is above the load: buffers that by themselves need as much, in order.
  std::vector<uint32_t> witness;
};

std::vector<std::string_view> SolverNames();

Answer Solve(const Problem& problem, const SolveOptions& options);

}  // namespace stowplan::pack
