// SPDX-License-Identifier: Apache-2.0
#include "best/pack_units.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"
#include "stowplan/pack/solve.h"

namespace stowplan {
namespace {

// Nodes of the search for the last bytes.
constexpr int64_t kLastBytesEffort = int64_t{1} << 14U;

// Sizes and offsets in multiples of `step`, rounded up.
pack::Problem ProblemOf(std::span<const Unit* const> units, int64_t step, int64_t alignment) {
  pack::Problem problem;
  problem.buffers.reserve(units.size());
  for (const Unit* unit : units) {
    const auto number = static_cast<uint32_t>(problem.buffers.size());
    const Segment hull = unit->hull();
    problem.buffers.push_back({.size = CeilDivide(unit->size, step),
                               .start = hull.start,
                               .end = hull.end,
                               .alignment = alignment});
    for (size_t k = 1; k < unit->segments.size(); ++k) {
      problem.gaps.push_back(
          {.buffer = number, .start = unit->segments[k - 1].end, .end = unit->segments[k].start});
    }
  }
  return problem;
}

void Take(UnitPlan& plan, const pack::Plan& packed, std::span<const Unit* const> units,
          int64_t step) {
  plan.offsets = packed.offsets;
  plan.height = 0;
  for (size_t u = 0; u < units.size(); ++u) {
    plan.offsets[u] *= step;
    plan.height = std::max(plan.height, plan.offsets[u] + units[u]->size);
  }
}

}  // namespace

UnitPlan PackUnits(std::span<const Unit* const> units, int64_t alignment, const UnitBound& bound,
                   std::optional<int64_t> capacity, const std::function<bool()>& should_stop) {
  UnitPlan plan = {.offsets = {}, .height = 0, .bound = bound.bytes, .bound_time = bound.time};
  if (units.empty()) return plan;
  pack::SolveOptions options = {.should_stop = should_stop};
  if (capacity) options.capacity = *capacity / alignment;
  if (should_stop) options.effort = std::numeric_limits<int64_t>::max();
  // All offsets are multiples of one alignment: that is the unit of length.
  const pack::Answer answer = pack::Solve(ProblemOf(units, alignment, 1), options);
  Take(plan, answer.plan, units, alignment);
  int64_t slack = 0;  // the most that rounding up has added to one of them
  for (const Unit* unit : units)
    slack = std::max(slack, *CheckedRoundUp(unit->size, alignment) - unit->size);
  if (const int64_t searched = answer.bound * alignment - slack;
      answer.bound > answer.load.bytes && searched > plan.bound) {
    plan.bound = searched;
    plan.bound_time.reset();
  }
  // What is left may be the last unit of length: the highest should be one that rounding up has
  // added much to.
  if (!capacity && plan.height > plan.bound && plan.height - plan.bound < alignment) {
    options.capacity = plan.bound;
    options.effort = kLastBytesEffort;
    const pack::Answer exact = pack::Solve(ProblemOf(units, 1, alignment), options);
    if (exact.plan.height < plan.height) Take(plan, exact.plan, units, 1);
  }
  return plan;
}

}  // namespace stowplan
