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
  std::ranges::copy(order,
                    module.instruction_pool.begin() + module.computations[id].schedule.begin);
}

// Whether to look for a better order of a computation.
enum class Chance : uint8_t { kNone, kWorthwhile, kTooLow };

class Reorderer {
 public:
  Reorderer(hlo::Module& module, const Rules& rules, const ReorderOptions& options)
      : module_(module), rules_(rules), options_(options), slacks_(module.computations.size(), 0) {}

  Result<std::vector<ReorderedComputation>> Run() && {
    STOWPLAN_TRY(Analysis analysis, Analyze(module_, rules_.analysis));
    const std::vector<uint32_t> heights = FindHeights(module_, analysis.schedule);
    const uint32_t highest = heights[module_.entry.index];
    for (uint32_t height = 0; height <= highest; ++height) {
      STOWPLAN_TRY(const Surroundings around,
                   FindSurroundings(module_, analysis, rules_, options_.objective));
      if (height == 0) Choose(around);
      bool has_changed = false;
      for (size_t c = 0; c < heights.size(); ++c) {
        if (heights[c] == height && chances_[c] == Chance::kWorthwhile)
          has_changed |= ReorderOne(around, CompId(c));
      }
      if (has_changed && height < highest) {
        STOWPLAN_TRY(analysis, Analyze(module_, rules_.analysis));
      }
    }
    return std::move(done_);
  }

 private:
  // Computations in which little is alive have no part in the peak, and there may be thousands.
  void Choose(const Surroundings& around) {
    const int64_t peak = std::ranges::max(around.loads);
    chances_.assign(module_.computations.size(), Chance::kNone);
    for (size_t c = 0; c < chances_.size(); ++c) {
      const Schedule::Span span = around.analysis.schedule.spans[c];
      if (span.start == kNoTime || span.start == span.end) continue;
      const auto inside =
          std::span(around.loads)
              .subspan(static_cast<size_t>(span.start), static_cast<size_t>(span.end - span.start));
      const auto is_work = [&](InstrId id) {
        return !IsTransparent(module_.instructions[id].opcode);
      };
      if (std::ranges::count_if(module_.schedule_of(CompId(c)), is_work) < 2) continue;
      chances_[c] = std::ranges::max(inside) >= peak / 2 ? Chance::kWorthwhile : Chance::kTooLow;
      // Nothing is known about the orders of what is not looked at.
      if (chances_[c] == Chance::kTooLow) slacks_[c] = peak;
    }
    chances_[module_.entry.index] = Chance::kWorthwhile;
  }

  bool ReorderOne(const Surroundings& around, CompId id) {
    const Graph graph = MakeGraph(module_, id, options_.overlap, around.effects);
    const Problem problem = FindProblem(around, graph, slacks_);
    const Answer answer = Solve(problem, {.should_stop = options_.should_stop});
    done_.push_back(
        {.computation = id,
         .given_peak = answer.given_peak,
         .peak = answer.peak,
         .bound = answer.bound,
         .witness = answer.witness == kNoNode ? InstrId() : graph.instructions[answer.witness]});
    slacks_[id.index] = std::max<int64_t>(answer.peak - answer.bound, 0);
    if (answer.peak >= answer.given_peak) return false;
    SetSchedule(module_, id, FullOrder(module_, graph, answer.order));
    return true;
  }

  hlo::Module& module_;
  const Rules& rules_;
  const ReorderOptions& options_;
  std::vector<int64_t> slacks_;  // by computation
  std::vector<Chance> chances_;  // by computation
  std::vector<ReorderedComputation> done_;
};

}  // namespace

Result<Reordered> Reorder(const hlo::Module& module, const Rules& rules,
                          const ReorderOptions& options) {
  Reordered result = {.module = module, .computations = {}};
  STOWPLAN_TRY(result.computations, Reorderer(result.module, rules, options).Run());
  return result;
}

}  // namespace stowplan::order
