// SPDX-License-Identifier: Apache-2.0
#include "stowplan/pack/solve.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pack/align.h"
#include "pack/pools.h"
#include "pack/race.h"
#include "pack/reduce.h"

namespace stowplan::pack {
namespace {

struct NamedSolver {
  std::string_view name;
  Solver solve;
};
// In the order in which they are tried.
constexpr NamedSolver kSolvers[] = {
    {"hints", SolveByHints},
    {"valleys", SolveByValleys},
    {"fit", SolveByFit},
    {"search", SolveBySearch},
};

// One item above the other, and all above what is pinned: high, but a plan.
std::vector<int64_t> StackUp(const Core& core) {
  std::vector<int64_t> offsets(core.items.size(), 0);
  int64_t top = 0;
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    if (core.is_pinned(i)) top = std::max(top, core.pins[i] + core.items[i].size);
  }
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    offsets[i] = core.is_pinned(i) ? core.pins[i] : AlignUp(top, core.items[i].alignment);
    top = std::max(top, offsets[i] + core.items[i].size);
  }
  return offsets;
}

Status StatusOf(const Answer& answer, const std::optional<int64_t>& capacity) {
  if (capacity && answer.plan.height > *capacity)
    return answer.bound > *capacity ? Status::kInfeasible : Status::kUndecided;
  return answer.plan.height <= answer.bound ? Status::kOptimal : Status::kFeasible;
}

}  // namespace

std::string_view Name(Status status) {
  switch (status) {
    case Status::kOptimal:
      return "optimal";
    case Status::kFeasible:
      return "feasible";
    case Status::kInfeasible:
      return "infeasible";
    case Status::kUndecided:
      return "undecided";
  }
  return {};
}

std::vector<std::string_view> SolverNames() {
  std::vector<std::string_view> names;
  for (const NamedSolver& solver : kSolvers) names.push_back(solver.name);
  return names;
}

Answer Solve(const Problem& problem, const SolveOptions& options) {
  if (!problem.pools.empty()) return SolvePools(problem, options);
  Answer answer;
  answer.load = FindLoadBound(problem);
  answer.bound = answer.load.bytes;
  const Reduced reduced = Reduce(problem);
  Race::Limits limits = {.goal = options.capacity ? *options.capacity / reduced.unit : 0,
                         .effort = options.effort,
                         .threads = options.threads,
                         .seed = options.seed,
                         .should_stop = options.should_stop};
  if (options.on_plan) {
    limits.on_plan = [&](std::span<const int64_t> offsets, int64_t, int64_t) {
      options.on_plan(Expand(problem, reduced, offsets), answer.bound);
    };
  }
  const std::vector<int64_t> loads = LoadsOf(reduced.core);
  int64_t load = loads.empty() ? 0 : std::ranges::max(loads) - reduced.core.rounding;
  for (uint32_t i = 0; i < reduced.core.items.size(); ++i) {
    if (reduced.core.is_pinned(i))
      load = std::max(load, reduced.core.pins[i] + reduced.core.items[i].size);
  }
  Race race(reduced.core, load, std::move(limits));
  if (reduced.core.items.empty()) race.Take({});
  for (; !race.IsOver(); race.StartRound()) {
    const int64_t effort = race.effort();
    for (const NamedSolver& solver : kSolvers) {
      if (!options.solver.empty() && solver.name != options.solver) continue;
      if (!race.IsOver()) solver.solve(race);
    }
    // Where nobody does anything any more.
    if (race.round() > 1 && race.effort() == effort) break;
  }
  if (!race.has_plan()) race.Take(StackUp(reduced.core));
  answer.plan = Expand(problem, reduced, race.offsets());
  if (reduced.is_exact) answer.bound = std::max(answer.bound, race.bound() * reduced.unit);
  answer.status = StatusOf(answer, options.capacity);
  return answer;
}

}  // namespace stowplan::pack
