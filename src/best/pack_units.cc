// SPDX-License-Identifier: Apache-2.0
#include "best/pack_units.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/checked_math.h"
#include "stowplan/pack.h"

namespace stowplan {
namespace {

// Nodes of the search for the last bytes.
constexpr int64_t kLastBytesEffort = int64_t{1} << 14U;

// In multiples of the alignment: all offsets are.
pack::Problem ProblemOf(std::span<const Unit* const> units, int64_t alignment) {
  pack::Problem problem;
  problem.buffers.reserve(units.size());
  for (const Unit* unit : units) {
    const auto number = static_cast<uint32_t>(problem.buffers.size());
    const Segment hull = unit->hull();
    problem.buffers.push_back(
        {.size = CeilDivide(unit->size, alignment), .start = hull.start, .end = hull.end});
    for (size_t k = 1; k < unit->segments.size(); ++k) {
      problem.gaps.push_back(
          {.buffer = number, .start = unit->segments[k - 1].end, .end = unit->segments[k].start});
    }
  }
  return problem;
}

int64_t SlackOf(const Unit& unit, int64_t alignment) {
  return *CheckedRoundUp(unit.size, alignment) - unit.size;
}

// The longest unit that is alive at the instant and leaves so many bytes of its last multiple.
std::optional<uint32_t> FindTop(std::span<const Unit* const> units, int64_t alignment, int64_t time,
                                int64_t slack) {
  std::optional<uint32_t> top;
  for (uint32_t u = 0; u < units.size(); ++u) {
    const Segment hull = units[u]->hull();
    if (hull.start > time || time >= hull.end || SlackOf(*units[u], alignment) < slack) continue;
    if (top && hull.end - hull.start <= units[*top]->hull().end - units[*top]->hull().start)
      continue;
    top = u;
  }
  return top;
}

// A plan of `height` multiples has a last one that is not needed in full: one unit lies highest,
// and a roof keeps the others one lower when it is not there.
std::optional<pack::Plan> PackUnderRoof(pack::Problem problem, std::span<const int64_t> offsets,
                                        uint32_t top, const Unit& unit, int64_t height,
                                        const std::function<bool()>& should_stop) {
  const auto roof = static_cast<uint32_t>(problem.buffers.size());
  int64_t start = unit.hull().start;
  int64_t end = unit.hull().end;
  for (const pack::Buffer& buffer : problem.buffers) {
    start = std::min(start, buffer.start);
    end = std::max(end, buffer.end);
  }
  // The roof is there one instant more at both ends: gaps are within a life.
  problem.buffers.push_back({.size = 1, .start = start - 1, .end = end + 1});
  for (const Segment& segment : unit.segments)
    problem.gaps.push_back({.buffer = roof, .start = segment.start, .end = segment.end});
  problem.pins = {{top, height - problem.buffers[top].size}, {roof, height - 1}};
  for (uint32_t b = 0; b < offsets.size(); ++b) problem.hints.push_back({b, offsets[b]});
  Result<pack::Answer> answer = pack::Solve(
      problem, {.capacity = height, .effort = kLastBytesEffort, .should_stop = should_stop});
  if (!answer || answer->plan.height > height) return std::nullopt;
  answer->plan.offsets.pop_back();
  return std::move(answer->plan);
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

std::optional<UnitPlan> PackUnits(std::span<const Unit* const> units, int64_t alignment,
                                  const UnitBound& bound, std::optional<int64_t> capacity,
                                  const BestOptions& best) {
  UnitPlan plan = {.offsets = {}, .height = 0, .bound = bound.bytes, .bound_time = bound.time};
  if (units.empty()) return plan;
  pack::SolveOptions options = {.should_stop = best.should_stop};
  if (best.searches_on) options.effort = std::numeric_limits<int64_t>::max();
  const pack::Problem problem = ProblemOf(units, alignment);
  Result<pack::Answer> first = pack::Solve(problem, options);
  if (!first) return std::nullopt;
  pack::Answer answer = *std::move(first);
  Take(plan, answer.plan, units, alignment);
  if (capacity && plan.height > *capacity && bound.bytes <= *capacity) {
    options.capacity = *capacity / alignment;
    Result<pack::Answer> fitted = pack::Solve(problem, options);
    if (!fitted) return std::nullopt;
    fitted->bound = std::max(fitted->bound, answer.bound);
    if (fitted->plan.height > answer.plan.height) fitted->plan = std::move(answer.plan);
    answer = *std::move(fitted);
    Take(plan, answer.plan, units, alignment);
  }
  int64_t slack = 0;
  for (const Unit* unit : units) slack = std::max(slack, SlackOf(*unit, alignment));
  if (const int64_t searched = answer.bound * alignment - slack;
      answer.bound > answer.load.bytes && searched > plan.bound) {
    plan.bound = searched;
    plan.bound_time.reset();
  }
  if (plan.height <= bound.bytes || plan.height - bound.bytes >= alignment) return plan;
  const int64_t height = answer.plan.height;
  const std::optional<uint32_t> top =
      FindTop(units, alignment, bound.time, height * alignment - bound.bytes);
  if (!top) return plan;
  const std::optional<pack::Plan> roofed =
      PackUnderRoof(problem, answer.plan.offsets, *top, *units[*top], height, best.should_stop);
  if (roofed) Take(plan, *roofed, units, alignment);
  return plan;
}

}  // namespace stowplan
