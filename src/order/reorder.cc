// SPDX-License-Identifier: Apache-2.0
#include "order/reorder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "order/certificate.h"
#include "order/effects.h"
#include "order/overlap.h"
#include "order/solve.h"
#include "order/solve_quickly.h"

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
enum class Chance : uint8_t {
  kNone,        // there is but one
  kWorthwhile,  // it has a part in the peak
  kTooLow,      // it has not; how far its order is from the best still matters for the bound
  kLeftOut,     // nothing is known about it
};

class Reorderer {
 public:
  Reorderer(hlo::Module& module, const Rules& rules, const ReorderOptions& options)
      : module_(module),
        rules_(rules),
        options_(options),
        slacks_(module.computations.size(), 0),
        sections_(module.computations.size()) {}

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
        if (heights[c] == height && IsLookedAt(c)) has_changed |= ReorderOne(around, CompId(c));
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
    }
    chances_[module_.entry.index] = Chance::kWorthwhile;
    // A problem takes a look at each buffer of the module.
    constexpr size_t kMostLooks = 20'000'000;
    size_t left = kMostLooks / (around.analysis.buffers.size() + 1) + 1;
    LeaveOut(Chance::kWorthwhile, left, peak);
    LeaveOut(Chance::kTooLow, left, peak);
    ShareEffort();
  }
  // All but the first `left` of these.
  void LeaveOut(Chance chance, size_t& left, int64_t peak) {
    for (size_t c = 0; c < chances_.size(); ++c) {
      if (chances_[c] != chance || CompId(c) == module_.entry) continue;
      if (left > 0) {
        --left;
        continue;
      }
      chances_[c] = Chance::kLeftOut;
      // Nothing is known about its orders.
      slacks_[c] = peak;
    }
  }
  // Half of it is for the entry, the other half for all that it calls, by their sizes.
  void ShareEffort() {
    size_t sum = 0;
    for (size_t c = 0; c < chances_.size(); ++c) {
      if (IsLookedAt(c) && CompId(c) != module_.entry) sum += module_.schedule_of(CompId(c)).size();
    }
    callee_effort_ = DefaultEffort(sum) / 2 / static_cast<int64_t>(sum + 1);
  }
  [[nodiscard]] bool IsLookedAt(size_t computation) const {
    return chances_[computation] == Chance::kWorthwhile || chances_[computation] == Chance::kTooLow;
  }

  bool ReorderOne(const Surroundings& around, CompId id) {
    const Graph graph = MakeGraph(module_, id, around.effects);
    Solved solved = SolveWithOverlap(around, graph);
    Answer& answer = solved.answer;
    if (chances_[id.index] == Chance::kTooLow) {
      answer.order = GivenOrder(solved.problem);
      answer.peak = answer.given_peak;
    }
    slacks_[id.index] = std::max<int64_t>(answer.peak - answer.bound, 0);
    done_.push_back(
        {.computation = id,
         .given_peak = answer.given_peak,
         .peak = answer.peak,
         .bound = answer.bound,
         .witness = answer.witness == kNoNode ? InstrId() : graph.instructions[answer.witness],
         .overlap = solved.overlap,
         .lost_overlap = solved.lost_overlap,
         .certificate = options_.certifies ? Certify(graph, solved) : std::string()});
    sections_[id.index] = done_.size() - 1;
    if (!done_.back().is_changed()) return false;
    SetSchedule(module_, id, FullOrder(module_, graph, answer.order));
    return true;
  }

  struct Solved {
    Problem problem;  // the one whose orders the bound is about
    Answer answer;
    int64_t overlap = 0;
    int64_t lost_overlap = 0;
  };

  [[nodiscard]] std::string Certify(const Graph& graph, const Solved& solved) const {
    const Answer& answer = solved.answer;
    return WriteSection("computation", module_, graph, solved.problem,
                        {.order = answer.order,
                         .bound = Claim::Bound{.bytes = answer.bound, .witness = answer.witness},
                         .calls = FindCalls(module_, graph, sections_)});
  }

  // Those pairs that most work overlaps with are kept as they are, as few as possible.
  Solved SolveWithOverlap(const Surroundings& around, const Graph& graph) const {
    std::vector<AsyncPair> pairs = FindAsyncPairs(module_, graph);
    const Problem free = FindProblem(around, graph, slacks_);
    const std::vector<int64_t> given = OverlappedWork(free, pairs, GivenOrder(free));
    std::vector<size_t> by_work(pairs.size());
    std::iota(by_work.begin(), by_work.end(), 0);
    StableSort(by_work, std::greater(), [&](size_t k) { return given[k]; });
    const auto nodes = static_cast<int64_t>(graph.instructions.size());
    const int64_t effort = graph.computation == module_.entry
                               ? DefaultEffort(graph.instructions.size())
                               : callee_effort_ * nodes;
    const auto solve = [&](size_t kept) {
      std::vector<AsyncPair> kept_pairs;
      kept_pairs.reserve(kept);
      for (size_t k = 0; k < kept; ++k) kept_pairs.push_back(pairs[by_work[k]]);
      std::ranges::sort(kept_pairs, {}, &AsyncPair::done);
      Graph constrained = graph;
      KeepOverlap(kept_pairs, graph.instructions.size(), constrained.edges);
      Solved solved = {.problem = FindProblem(around, constrained, slacks_), .answer = {}};
      solved.answer =
          options_.is_quick
              ? SolveQuickly(solved.problem)
              : Solve(solved.problem, {.should_stop = options_.should_stop, .effort = effort});
      const std::vector<int64_t> now = OverlappedWork(solved.problem, pairs, solved.answer.order);
      for (size_t k = 0; k < pairs.size(); ++k) {
        solved.overlap = SaturatingAdd(solved.overlap, given[k]);
        solved.lost_overlap =
            SaturatingAdd(solved.lost_overlap, std::max<int64_t>(given[k] - now[k], 0));
      }
      return solved;
    };
    const auto is_allowed = [&](const Solved& solved) {
      return static_cast<double>(solved.lost_overlap) <=
             static_cast<double>(solved.overlap) * static_cast<double>(options_.overlap_loss) / 100;
    };
    if (options_.overlap_loss == 0 || pairs.empty()) return solve(pairs.size());
    size_t low = 0;
    size_t high = pairs.size();
    Solved unlimited = solve(0);
    if (is_allowed(unlimited)) return unlimited;
    Solved best = solve(high);
    while (low + 1 < high) {
      const size_t middle = low + (high - low) / 2;
      Solved next = solve(middle);
      if (is_allowed(next)) {
        high = middle;
        if (next.answer.peak <= best.answer.peak) best = std::move(next);
      } else {
        low = middle;
      }
    }
    // Which pairs are kept is a choice: only what holds without it holds for all orders.
    best.problem = std::move(unlimited.problem);
    best.answer.bound = unlimited.answer.bound;
    best.answer.witness = unlimited.answer.witness;
    return best;
  }

  hlo::Module& module_;
  const Rules& rules_;
  const ReorderOptions& options_;
  std::vector<int64_t> slacks_;  // by computation
  std::vector<Chance> chances_;  // by computation
  int64_t callee_effort_ = 0;    // by instruction of a callee
  std::vector<ReorderedComputation> done_;
  std::vector<std::optional<size_t>> sections_;  // by computation: its row in `done_`
};

}  // namespace

Result<Reordered> Reorder(const hlo::Module& module, const Rules& rules,
                          const ReorderOptions& options) {
  Reordered result = {.module = module, .computations = {}};
  STOWPLAN_TRY(result.computations, Reorderer(result.module, rules, options).Run());
  return result;
}

bool KeepsWhatIsKept(const hlo::Module& given, const hlo::Module& other) {
  const std::vector<uint8_t> effects = FindEffects(given);
  std::vector<uint32_t> places(given.instructions.size(), 0);
  for (size_t c = 0; c < given.computations.size(); ++c) {
    const std::span<const InstrId> order = other.schedule_of(CompId(c));
    if (std::ranges::equal(order, given.schedule_of(CompId(c)))) continue;
    for (uint32_t k = 0; k < order.size(); ++k) places[order[k].index] = k;
    Graph graph = MakeGraph(given, CompId(c), effects);
    KeepOverlap(FindAsyncPairs(given, graph), graph.instructions.size(), graph.edges);
    const auto place = [&](Node node) { return places[graph.instructions[node].index]; };
    for (const auto& [from, to] : graph.edges) {
      if (place(from) > place(to)) return false;
    }
  }
  return true;
}

Result<int64_t> FindPeak(const hlo::Module& module, const Analysis& analysis, const Rules& rules) {
  STOWPLAN_TRY(const Surroundings around,
               FindSurroundings(module, analysis, rules, Objective::kAll));
  const Graph graph = MakeGraph(module, module.entry, around.effects);
  const std::vector<int64_t> slacks(module.computations.size(), 0);
  const Problem problem = FindProblem(around, graph, slacks);
  return ComputeLoads(problem, GivenOrder(problem)).peak;
}

}  // namespace stowplan::order
