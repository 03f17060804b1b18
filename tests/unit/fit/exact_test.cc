// SPDX-License-Identifier: Apache-2.0
// The exact curve against two slow searches that share nothing with it: all sequences up to a
// length, and all states of the memory, one life dropped at a time.
#include "fit/exact.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "fit/bound.h"
#include "fit/search.h"
#include "unit/fit/small_tasks.h"

namespace stowplan::fit {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

int64_t LeastPeakAt(const Curve& curve, double cost) {
  int64_t peak = kNoLimit;
  for (const Point& point : curve) {
    if (point.cost <= cost + 1e-9) peak = point.peak;
  }
  return peak;
}

void ExpectCurve(const Task& task, const Curve& curve) {
  ASSERT_FALSE(curve.empty());
  ASSERT_EQ(curve.front().cost, 0);
  for (size_t k = 0; k < curve.size(); ++k) {
    ASSERT_TRUE(IsPossible(task, curve[k].sequence));
    ASSERT_EQ(FindPeak(task, curve[k].sequence), curve[k].peak);
    ASSERT_DOUBLE_EQ(ExtraCost(task, curve[k].sequence), curve[k].cost);
    if (k == 0) continue;
    ASSERT_GT(curve[k].cost, curve[k - 1].cost);
    ASSERT_LT(curve[k].peak, curve[k - 1].peak);
  }
}

// All possible sequences of at most so many places.
class AllSequences {
 public:
  AllSequences(const Task& task, size_t most) : task_(task), most_(most) {}

  // How many there are; fails where one is below the curve.
  int64_t Compare(const Curve& curve) {
    Extend(curve);
    return count_;
  }

 private:
  void Extend(const Curve& curve) {
    const std::set<Node> done(sequence_.begin(), sequence_.end());
    if (done.size() == task_.size()) {
      ++count_;
      const double cost = ExtraCost(task_, sequence_);
      EXPECT_GE(FindPeak(task_, sequence_), LeastPeakAt(curve, cost));
    }
    const size_t missing = task_.size() - done.size();
    if (sequence_.size() == most_) return;
    for (Node node = 0; node < task_.size(); ++node) {
      const bool is_new = !done.contains(node);
      if (!is_new && (task_.can_repeat[node] == 0 || sequence_.size() + missing == most_)) continue;
      if (!CanFollow(node, done, is_new)) continue;
      sequence_.push_back(node);
      Extend(curve);
      sequence_.pop_back();
    }
  }
  [[nodiscard]] bool CanFollow(Node node, const std::set<Node>& done, bool is_new) const {
    if (is_new && !std::ranges::all_of(task_.problem.before[node],
                                       [&](Node before) { return done.contains(before); }))
      return false;
    return std::ranges::all_of(task_.reads[node], [&](uint32_t life) {
      const Node begin = task_.problem.lives[life].begin;
      if (begin != kNoNode && !done.contains(begin)) return false;
      // Whichever comes first on the way back.
      for (size_t p = sequence_.size(); p-- > 0;) {
        if (sequence_[p] == begin) return true;
        if (sequence_[p] == task_.overwriters[life]) return false;
      }
      return true;
    });
  }

  const Task& task_;
  const size_t most_;
  Sequence sequence_;
  int64_t count_ = 0;
};

TEST(FitExact, NoSequenceIsBelowTheCurve) {
  int64_t count = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    SmallTasks random(round);
    const Task task = round % 3 == 2 ? random.TrainingStep(5) : random.AnyGraph(5, round % 3 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    ExpectCurve(task, *exact);
    count += AllSequences(task, 8).Compare(*exact);
  }
  EXPECT_GT(count, 10'000);
}

// Dijkstra's algorithm over the nodes that have run and the lives in memory. Only for tasks without
// overwriting, for which the load is the sum of what is held.
class AllStates {
 public:
  explicit AllStates(const Task& task) : task_(task) {}

  // The cost below a limit of memory; negative: there is no way.
  double CostBelow(int64_t limit) {
    std::map<State, double> costs;
    std::set<std::pair<double, State>> queue;
    const auto reach = [&](State state, double cost) {
      const auto [entry, is_new] = costs.emplace(state, cost);
      if (!is_new && entry->second <= cost) return;
      queue.erase({entry->second, state});
      entry->second = cost;
      queue.emplace(cost, state);
    };
    reach({0, 0}, 0);
    while (!queue.empty()) {
      const auto [cost, state] = *queue.begin();
      queue.erase(queue.begin());
      if (state.first + 1 == 1U << task_.size()) return cost;
      for (uint32_t life = 0; life < task_.problem.lives.size(); ++life) {
        const uint32_t bit = 1U << life;
        if ((state.second & bit) != 0 && !task_.problem.lives[life].lasts)
          reach({state.first, state.second & ~bit}, cost);
      }
      for (Node node = 0; node < task_.size(); ++node) {
        const bool is_done = ((state.first >> node) & 1U) != 0;
        if (!CanRun(state, node, is_done)) continue;
        uint32_t held = state.second;
        for (const uint32_t life : task_.makes[node]) held |= 1U << life;
        if (BytesOf(held) + task_.problem.inner[node] > limit) continue;
        reach({state.first | (1U << node), held}, cost + (is_done ? task_.costs[node] : 0));
      }
    }
    return -1;
  }

 private:
  using State = std::pair<uint32_t, uint32_t>;  // nodes done, lives held
  [[nodiscard]] int64_t BytesOf(uint32_t held) const {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < task_.problem.lives.size(); ++i) {
      if (((held >> i) & 1U) != 0) bytes += task_.problem.lives[i].size;
    }
    return bytes;
  }
  [[nodiscard]] bool CanRun(const State& state, Node node, bool is_done) const {
    if (is_done && task_.can_repeat[node] == 0) return false;
    for (const uint32_t life : task_.reads[node]) {
      if (((state.second >> life) & 1U) == 0) return false;
    }
    return is_done || std::ranges::all_of(task_.problem.before[node], [&](Node before) {
             return ((state.first >> before) & 1U) != 0;
           });
  }

  const Task& task_;
};

TEST(FitExact, IsWhatAllStatesGive) {
  for (uint32_t round = 0; round < 24; ++round) {
    SmallTasks random(1000 + round);
    const Task task = random.AnyGraph(7 + round % 2, false);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    ExpectCurve(task, *exact);
    AllStates states(task);
    for (const Point& point : *exact) EXPECT_DOUBLE_EQ(states.CostBelow(point.peak), point.cost);
    // Below a point, the next one is the cheapest, and below the last there is nothing.
    for (size_t k = 0; k < exact->size(); ++k) {
      const double next = k + 1 < exact->size() ? (*exact)[k + 1].cost : -1;
      EXPECT_DOUBLE_EQ(states.CostBelow((*exact)[k].peak - 1), next);
    }
  }
}

// A result that is written over zeros is made again with its zeros; that saves memory where it
// would lie idle.
TEST(FitExact, ChainsAreRepeatedTogether) {
  order::ProblemParts parts;
  const auto add = [&](int64_t size, const std::vector<uint32_t>& reads) {
    const auto node = static_cast<Node>(parts.inner.size());
    parts.inner.push_back(0);
    parts.lives.push_back({.size = size, .begin = node});
    parts.touches.emplace_back();
    for (const Node read : reads) {
      parts.edges.emplace_back(read, node);
      parts.touches[read].push_back(node);
    }
    return node;
  };
  const Node zeros = add(10, {});
  const Node filled = add(10, {zeros});
  const Node early = add(1, {filled});
  const Node wide = add(30, {early});
  const Node narrow = add(1, {wide});
  const Node late = add(1, {narrow, filled});
  parts.overwrites.push_back({filled, filled, zeros});
  const std::vector<Node> overwriters = {filled, kNoNode, kNoNode, kNoNode, kNoNode, kNoNode};
  const auto solve = [&](bool is_allowed) {
    const Task task =
        MakeTask(order::MakeProblem(parts), std::vector<double>(6, 1), std::vector<uint8_t>(6, 1),
                 overwriters, {0, 0, 1, 2, 3, 4}, is_allowed);
    const std::optional<Curve> exact = SolveExactly(task, {});
    EXPECT_TRUE(exact);
    ExpectCurve(task, *exact);
    const Curve found = Search(task, {.most_cost = 100, .is_exact_allowed = false});
    ExpectCurve(task, found);
    EXPECT_EQ(found.back().peak, exact->back().peak);
    EXPECT_EQ(found.back().sequence, exact->back().sequence);
    EXPECT_LE(FindBound(task).bytes, exact->back().peak);
    return exact->back();
  };
  EXPECT_EQ(solve(false).peak, 41);
  const Point least = solve(true);
  EXPECT_EQ(least.peak, 31);
  EXPECT_EQ(least.cost, 2);
  EXPECT_EQ(least.sequence, (Sequence{zeros, filled, early, wide, narrow, zeros, filled, late}));
  // What is overwritten cannot be read, nor be written over twice.
  const Task task = MakeTask(order::MakeProblem(parts), std::vector<double>(6, 1),
                             std::vector<uint8_t>(6, 1), overwriters, {0, 0, 1, 2, 3, 4}, true);
  EXPECT_FALSE(IsPossible(task, Sequence{zeros, filled, early, wide, narrow, filled, late}));
}

// Tasks of twenty and more nodes with many chains: all that is found is possible.
TEST(FitExact, LargerTasksWithChainsAreSound) {
  int64_t repeated = 0;
  for (uint32_t round = 0; round < 8; ++round) {
    SmallTasks random(3000 + round);
    const Task task =
        round % 2 == 0 ? random.AnyGraph(20 + round, true) : random.TrainingStep(20 + 2 * round);
    const Curve found = Search(task, {.most_cost = 1e9, .is_exact_allowed = false});
    ExpectCurve(task, found);
    EXPECT_LE(FindBound(task).bytes, found.back().peak);
    for (const Point& point : found) {
      std::vector<int64_t> counts(task.size(), 0);
      for (const Node node : point.sequence) ++counts[node];
      for (uint32_t life = 0; life < task.overwriters.size(); ++life) {
        const Node begin = task.problem.lives[life].begin;
        if (task.overwriters[life] != kNoNode && begin != kNoNode && counts[begin] > 1) ++repeated;
      }
    }
  }
  EXPECT_GT(repeated, 5);
}

TEST(FitExact, LargeTasksAreLeft) {
  SmallTasks random(1);
  EXPECT_FALSE(SolveExactly(random.AnyGraph(kMostExactNodes + 1, false), {}));
}

TEST(FitExact, CanBeStopped) {
  SmallTasks random(5);
  const Task task = random.AnyGraph(20, false);
  int calls = 0;
  EXPECT_FALSE(SolveExactly(task, [&] { return ++calls > 1; }));
  EXPECT_EQ(calls, 2);
}

// No sequence needs less than the bound, and none of a cost less than the bound at that cost.
TEST(FitBound, NothingIsBelow) {
  int64_t tight = 0;
  int64_t count = 0;
  int64_t above = 0;  // bounds at a cost that say more than those for any cost
  for (uint32_t round = 0; round < 240; ++round) {
    SmallTasks random(2000 + round);
    const uint32_t nodes = 5 + round % 10;
    const Task task =
        round % 3 == 2 ? random.TrainingStep(nodes) : random.AnyGraph(nodes, round % 3 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    if (!exact) continue;
    const Bound bound = FindBound(task);
    ASSERT_LE(bound.bytes, exact->back().peak) << round;
    ASSERT_LT(bound.witness, task.size());
    ASSERT_LE(bound.own, bound.bytes);
    tight += bound.bytes == exact->back().peak ? 1 : 0;
    ++count;
    for (size_t k = 0; k < exact->size(); ++k) {
      // Just not enough for the next point.
      const double cost =
          k + 1 < exact->size() ? (*exact)[k + 1].cost * (1 - 1e-9) : 10 * WholeCost(task);
      const Bound at = FindBoundAt(task, (*exact)[k].sequence, cost);
      ASSERT_LE(at.bytes, (*exact)[k].peak) << round;
      ASSERT_GE(at.bytes, bound.bytes);
      above += at.bytes > bound.bytes ? 1 : 0;
    }
  }
  EXPECT_GE(count, 220);
  EXPECT_GE(tight, count / 3);
  EXPECT_GE(above, 100);
}

// A task without some of its nodes, which is what a bound that may leave them out holds for.
Task Without(const Task& task, std::span<const uint8_t> is_gone) {
  order::ProblemParts parts;
  std::vector<Node> numbers(task.size(), kNoNode);
  std::vector<double> costs;
  std::vector<uint8_t> can_repeat;
  for (Node i = 0; i < task.size(); ++i) {
    if (is_gone[i] != 0) continue;
    numbers[i] = static_cast<Node>(costs.size());
    parts.inner.push_back(task.problem.inner[i]);
    costs.push_back(task.costs[i]);
    can_repeat.push_back(task.can_repeat[i]);
    for (const Node b : task.problem.before[i]) {
      if (numbers[b] != kNoNode) parts.edges.emplace_back(numbers[b], numbers[i]);
    }
  }
  for (uint32_t life = 0; life < task.problem.lives.size(); ++life) {
    order::Life row = task.problem.lives[life];
    if (row.begin != kNoNode) row.begin = numbers[row.begin];
    parts.lives.push_back(row);
    parts.touches.emplace_back();
    for (const Node touch : task.problem.touches[life]) {
      if (numbers[touch] != kNoNode) parts.touches.back().push_back(numbers[touch]);
    }
  }
  const size_t count = parts.lives.size();
  return MakeTask(order::MakeProblem(std::move(parts)), std::move(costs), std::move(can_repeat),
                  std::vector<Node>(count, kNoNode));
}

TEST(FitBound, HoldsWithoutNodesThatMayGo) {
  for (uint32_t round = 0; round < 60; ++round) {
    SmallTasks random(4000 + round);
    Task task = random.AnyGraph(10, false);
    std::vector<uint8_t> is_gone(task.size(), 0);
    for (Node i = 0; i < task.size(); ++i) {
      is_gone[i] = static_cast<uint8_t>(random.Draw(3) == 0);
      if (is_gone[i] == 0) continue;
      for (const uint32_t life : task.makes[i]) task.problem.lives[life].size = 0;
    }
    const std::optional<Curve> rest = SolveExactly(Without(task, is_gone), {});
    ASSERT_TRUE(rest);
    const Bound bound = FindBound(task, is_gone);
    EXPECT_LE(bound.bytes, rest->back().peak) << round;
    EXPECT_LE(bound.bytes, FindBound(task).bytes);
    EXPECT_TRUE(bound.witness == kNoNode || is_gone[bound.witness] == 0);
  }
}

TEST(FitBound, SumsWhatTheWitnessNeeds) {
  // x -> a -> b -> c, and c reads a, b and x: all of them and its result are in memory.
  order::ProblemParts parts;
  for (Node i = 0; i < 4; ++i) {
    parts.inner.push_back(0);
    parts.lives.push_back({.size = 10 + int64_t{i}, .begin = i});
    parts.touches.emplace_back();
    for (Node from = 0; from < i; ++from) {
      if (i < 3 && from + 1 != i) continue;
      parts.edges.emplace_back(from, i);
      parts.touches[from].push_back(i);
    }
  }
  const Task task = MakeTask(order::MakeProblem(std::move(parts)), {1, 1, 1, 1}, {1, 1, 1, 1},
                             std::vector<Node>(4, kNoNode));
  const Bound bound = FindBound(task);
  EXPECT_EQ(bound.bytes, 46);
  EXPECT_EQ(bound.own, 46);
  EXPECT_EQ(bound.witness, 3U);
}

}  // namespace
}  // namespace stowplan::fit
