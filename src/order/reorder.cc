// SPDX-License-Identifier: Apache-2.0
#include "order/reorder.h"

#include <algorithm>
#include <utility>

#include "order/solve.h"

namespace stowplan::order {
namespace {

using hlo::CompId;
using hlo::InstrId;

// By computation: 0 if it calls none that is scheduled, else one more than the highest of those.
std::vector<uint32_t> FindHeights(const hlo::Module& module, const Schedule& schedule) {
  std::vector<uint32_t> heights(module.computations.size(), 0);
  // Callees precede their callers.
  for (size_t c = 0; c < heights.size(); ++c) {
    for (const InstrId id : module.schedule_of(CompId(c))) {
      for (const CompId callee : module.called_by(id)) {
        if (schedule.spans[callee.index].start != kNoTime)
          heights[c] = std::max(heights[c], heights[callee.index] + 1);
      }
    }
  }
  return heights;
}

void SetSchedule(hlo::Module& module, CompId id, std::span<const InstrId> order) {
  hlo::Computation& computation = module.computations[id];
  // In place: other modules that share nothing with this one keep theirs.
  std::ranges::copy(order, module.instruction_pool.begin() + computation.schedule.begin);
}

}  // namespace

Result<Reordered> Reorder(const hlo::Module& module, const Rules& rules,
                          const ReorderOptions& options) {
  Reordered result = {.module = module, .computations = {}};
  STOWPLAN_TRY(Analysis analysis, Analyze(result.module, rules.analysis));
  const std::vector<uint32_t> heights = FindHeights(module, analysis.schedule);
  const uint32_t highest = heights[module.entry.index];
  for (uint32_t height = 0; height <= highest; ++height) {
    bool has_changed = false;
    STOWPLAN_TRY(const BufferSizes measured, MeasureBuffers(result.module, analysis, rules));
    const Surroundings around = {result.module, analysis, rules, measured};
    std::vector<std::pair<CompId, std::vector<InstrId>>> changes;
    for (size_t c = 0; c < heights.size(); ++c) {
      const CompId id(c);
      if (heights[c] != height || analysis.schedule.spans[c].start == kNoTime) continue;
      const Graph graph = MakeGraph(result.module, id, options.overlap);
      const Problem problem = FindProblem(around, graph, options.objective);
      const Answer answer = Solve(problem, {.should_stop = options.should_stop});
      result.computations.push_back(
          {.computation = id,
           .given_peak = answer.given_peak,
           .peak = answer.peak,
           .bound = answer.bound,
           .witness = answer.witness == kNoNode ? InstrId() : graph.instructions[answer.witness]});
      if (answer.peak < answer.given_peak)
        changes.emplace_back(id, FullOrder(result.module, graph, answer.order));
    }
    for (const auto& [id, order] : changes) SetSchedule(result.module, id, order);
    has_changed = !changes.empty();
    if (has_changed && height < highest) {
      STOWPLAN_TRY(analysis, Analyze(result.module, rules.analysis));
    }
  }
  return result;
}

}  // namespace stowplan::order
