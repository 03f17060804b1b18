// SPDX-License-Identifier: Apache-2.0
// Sequences with repetitions on random graphs: all are possible, none is better than the exact
// curve, and few are worse.
#include "fit/search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "fit/arrange.h"
#include "fit/bound.h"
#include "fit/exact.h"
#include "fit/repeat.h"
#include "fit/stretch.h"
#include "fit/waists.h"
#include "unit/fit/random_tasks.h"
#include "unit/fit/small_tasks.h"

namespace stowplan::fit {
namespace {

int64_t PeakFor(const Curve& curve, double cost) {
  int64_t peak = curve.front().peak;
  for (const Point& point : curve) {
    if (point.cost <= cost * (1 + 1e-9)) peak = point.peak;
  }
  return peak;
}

void ExpectSound(const Task& task, const Curve& curve) {
  ASSERT_FALSE(curve.empty());
  const int64_t bound = FindBound(task).bytes;
  for (size_t k = 0; k < curve.size(); ++k) {
    ASSERT_TRUE(IsPossible(task, curve[k].sequence));
    ASSERT_EQ(FindPeak(task, curve[k].sequence), curve[k].peak);
    ASSERT_DOUBLE_EQ(ExtraCost(task, curve[k].sequence), curve[k].cost);
    ASSERT_LE(bound, curve[k].peak);
    if (k == 0) continue;
    ASSERT_GT(curve[k].cost, curve[k - 1].cost);
    ASSERT_LT(curve[k].peak, curve[k - 1].peak);
  }
}

TEST(FitTask, LoadsAreThoseOfTheOrder) {
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 200; ++round) {
    const Task task = RandomTask(random, 3 + round % 30, true);
    const order::Loads loads = order::ComputeLoads(task.problem, order::GivenOrder(task.problem));
    Trace trace;
    FindTrace(task, GivenSequence(task), trace);
    ASSERT_EQ(trace.loads, loads.loads);
    ASSERT_EQ(trace.peak, loads.peak);
  }
}

// Three layers: a small value goes from one to the next, and large ones are inside.
TEST(FitWaists, AreBetweenLayers) {
  order::ProblemParts parts;
  const auto add = [&](int64_t size, std::vector<Node> reads) {
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
  Node x = add(10, {});
  std::vector<Node> outputs;
  for (int layer = 0; layer < 3; ++layer) {
    const Node a = add(100, {x});
    const Node b = add(120, {a});
    const Node c = add(100, {a, b});
    x = add(10, {c, x});
    outputs.push_back(x);
  }
  for (int k = 0; k < 3; ++k) x = add(10, {x});
  const size_t nodes = parts.inner.size();
  const Task task = MakeTask(order::MakeProblem(std::move(parts)), std::vector<double>(nodes, 1),
                             std::vector<uint8_t>(nodes, 1), std::vector<Node>(nodes, kNoNode));
  const Sequence sequence = GivenSequence(task);
  Trace trace;
  FindTrace(task, sequence, trace);
  std::vector<uint32_t> places;
  for (const Waist& waist :
       FindWaists(task, sequence, trace, static_cast<uint32_t>(sequence.size()))) {
    if (waist.depth >= 100) places.push_back(waist.place);
  }
  // After the input too.
  EXPECT_EQ(places, (std::vector<uint32_t>{0, outputs[0], outputs[1]}));
  const std::vector<uint8_t> kept =
      HandedOnAt(task, sequence, trace, static_cast<uint32_t>(sequence.size()), places);
  // The first layer's output takes few nodes to compute, so it need not be kept.
  EXPECT_EQ(kept[outputs[0]], 0);
  EXPECT_EQ(kept[outputs[1]], 1);
  EXPECT_EQ(std::ranges::count(kept, 1), 1);
}

struct Gap {
  double sum = 0;
  double most = 0;
  int64_t count = 0;
  void Add(double gap) {
    sum += gap;
    most = std::max(most, gap);
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
};

// How far a curve is above the exact one, at each of its costs.
void Compare(const Curve& found, const Curve& exact, Gap& gap) {
  for (const Point& point : exact) {
    const int64_t peak = PeakFor(found, point.cost);
    ASSERT_GE(peak, point.peak);
    gap.Add(static_cast<double>(peak) / static_cast<double>(point.peak) - 1);
  }
}

// A task without writes in place, for the search without tricks: by turns arbitrary and like a
// training step.
Task SimpleTask(std::mt19937& random, uint32_t nodes, bool is_step) {
  if (!is_step) return RandomTask(random, nodes, false);
  Task task = RandomStep(random, nodes);
  task.problem.overwrites.clear();
  std::ranges::fill(task.problem.overwrite_begins, 0);
  return task;
}

TEST(FitSearch, ExactIsExhaustive) {
  std::mt19937 random(5);
  for (uint32_t round = 0; round < 60; ++round) {
    const Task task = SimpleTask(random, 4 + round % 4, round % 2 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    const std::vector<std::pair<double, int64_t>> all = Exhaustive(task).Find();
    ASSERT_EQ(exact->size(), all.size()) << round;
    for (size_t k = 0; k < all.size(); ++k) {
      EXPECT_DOUBLE_EQ((*exact)[k].cost, all[k].first);
      EXPECT_EQ((*exact)[k].peak, all[k].second);
    }
  }
}

// No more than 5 % above the optimum, and 1 % in the mean: what is small is solved exactly.
TEST(FitSearch, SmallTasksAreOptimal) {
  std::mt19937 random(2);
  Gap gap;
  for (uint32_t round = 0; round < 90; ++round) {
    const uint32_t nodes = 5 + round % 12;
    const Task task =
        round % 3 == 2 ? RandomStep(random, nodes) : RandomTask(random, nodes, round % 3 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    ExpectSound(task, *exact);
    const Curve found = Search(task, {.most_cost = 1e9});
    ExpectSound(task, found);
    Compare(found, *exact, gap);
  }
  EXPECT_EQ(gap.most, 0);
}

// Without the exact search of the whole, as larger tasks are searched: no more than 5 % above the
// optimum, and 1 % in the mean.
TEST(FitSearch, IsNearTheExactCurve) {
  std::mt19937 random(4);
  SmallTasks small(4);
  Gap gap;
  for (uint32_t round = 0; round < 40; ++round) {
    const uint32_t nodes = 10 + round % 5;
    const Task task = round % 5 == 4   ? small.TrainingStep(nodes)
                      : round % 5 == 3 ? small.AnyGraph(nodes, true)
                      : round % 5 == 2 ? RandomStep(random, nodes)
                                       : RandomTask(random, nodes, round % 5 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    SearchOptions options = {.most_cost = 1e9};
    options.is_exact_allowed = false;
    const Curve curve = Search(task, options);
    ExpectSound(task, curve);
    Compare(curve, *exact, gap);
  }
  EXPECT_LE(gap.mean(), 0.01);
  EXPECT_LE(gap.most, 0.05);
}

// A sequence with another stretch is possible, needs no more memory, and is cheaper.
TEST(FitStretch, IsPossibleAndCheaper) {
  SmallTasks small(9);
  int cheaper = 0;
  for (uint32_t round = 0; round < 200; ++round) {
    const uint32_t nodes = 8 + round % 20;
    const Task task = round % 2 == 0 ? small.AnyGraph(nodes, true) : small.TrainingStep(nodes);
    // With repetitions anywhere.
    Sequence sequence = GivenSequence(task);
    for (Node node = 0; node < nodes; ++node) {
      const auto place = static_cast<std::ptrdiff_t>(small.Draw(nodes));
      Sequence more = sequence;
      more.insert(more.begin() + place, node);
      if (IsPossible(task, more)) sequence = std::move(more);
    }
    Trace trace;
    FindTrace(task, sequence, trace);
    const auto size = static_cast<uint32_t>(sequence.size());
    const uint32_t first = small.Draw(size);
    const Stretch stretch = {first, first + 1 + small.Draw(std::min(size - first, 14U))};
    const double cost = CostOf(task, sequence, stretch);
    const std::optional<Sequence> solved =
        SolveStretchOf(task, sequence, trace, stretch, trace.peak, cost);
    if (!solved) continue;
    ++cheaper;
    ASSERT_TRUE(IsPossible(task, *solved)) << round;
    EXPECT_LE(FindPeak(task, *solved), trace.peak) << round;
    EXPECT_LT(ExtraCost(task, *solved), ExtraCost(task, sequence)) << round;
  }
  EXPECT_GE(cheaper, 20);
}

// No sequence is below the bound, and none of a given cost below the bound for that cost.
TEST(FitBound, IsBelowAllSequences) {
  std::mt19937 random(6);
  int tight = 0;
  for (uint32_t round = 0; round < 150; ++round) {
    const uint32_t nodes = 5 + round % 10;
    const Task task =
        round % 3 == 2 ? RandomStep(random, nodes) : RandomTask(random, nodes, round % 3 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    const Bound bound = FindBound(task);
    ASSERT_LE(bound.bytes, exact->back().peak);
    ASSERT_NE(bound.witness, kNoNode);
    if (bound.bytes == exact->back().peak) ++tight;
    for (size_t k = 0; k < exact->size(); ++k) {
      // All that costs less than the next point.
      const double most = k + 1 < exact->size() ? (*exact)[k + 1].cost * (1 - 1e-9) : 1e9;
      const Bound at = FindBoundAt(task, (*exact)[k].sequence, most);
      ASSERT_LE(at.bytes, (*exact)[k].peak) << round;
      ASSERT_GE(at.bytes, bound.bytes);
    }
  }
  EXPECT_GE(tight, 75);
}

// It ends soon, with what it has.
TEST(FitSearch, Stops) {
  std::mt19937 random(7);
  const Task task = RandomTask(random, 400, true);
  for (const int most : {0, 1, 10, 100}) {
    int asked = 0;
    const Curve curve =
        Search(task, {.most_cost = 1e9, .should_stop = [&] { return ++asked > most; }});
    ExpectSound(task, curve);
    EXPECT_LE(asked, most + 200);
  }
}

TEST(FitSearch, LargerTasksAreSound) {
  std::mt19937 random(3);
  for (uint32_t round = 0; round < 8; ++round) {
    const Task task = RandomTask(random, 20 + round * 12, round % 2 == 0);
    ExpectSound(task, Search(task, {.most_cost = 1e9}));
  }
}

}  // namespace
}  // namespace stowplan::fit
