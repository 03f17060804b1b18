// SPDX-License-Identifier: Apache-2.0
// Sequences with repetitions on random graphs: all are possible, none is better than the exact
// curve, and few are worse.
#include "fit/search.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "fit/arrange.h"
#include "fit/bound.h"
#include "fit/exact.h"
#include "fit/repeat.h"
#include "fit/waists.h"

namespace stowplan::fit {
namespace {

// Nodes that read some earlier ones. A rich task has lives from before and to the end, nodes that
// may not be repeated, writes in place and overwritten arguments.
Task RandomTask(std::mt19937& random, uint32_t nodes, bool is_rich) {
  const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  order::ProblemParts parts;
  std::vector<double> costs;
  std::vector<uint8_t> can_repeat;
  std::vector<Node> overwriters;
  for (Node i = 0; i < nodes; ++i) {
    parts.inner.push_back(is_rich && draw(4) == 0 ? draw(20) : 0);
    parts.lives.push_back(
        {.size = 1 + draw(30), .begin = i, .lasts = is_rich && draw(6) == 0, .is_capped = false});
    parts.touches.emplace_back();
    costs.push_back(1 + draw(20));
    can_repeat.push_back(!is_rich || draw(5) != 0 ? 1 : 0);
    overwriters.push_back(kNoNode);
  }
  for (Node i = 1; i < nodes; ++i) {
    for (uint32_t k = 1 + draw(2); k > 0; --k) {
      const Node from = draw(2) == 0 ? i - 1 : draw(i);
      parts.edges.emplace_back(from, i);
      parts.touches[from].push_back(i);
      if (is_rich && draw(3) == 0) parts.overwrites.push_back({i, i, from});
    }
  }
  if (is_rich) {
    // An argument that the last node overwrites.
    parts.lives.push_back({.size = 1 + draw(30)});
    parts.touches.push_back({draw(nodes), draw(nodes)});
    overwriters.push_back(nodes - 1);
    for (const Node touch : parts.touches.back()) {
      if (touch + 1 < nodes) parts.edges.emplace_back(touch, nodes - 1);
    }
  }
  return MakeTask(order::MakeProblem(std::move(parts)), std::move(costs), std::move(can_repeat),
                  std::move(overwriters));
}

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

TEST(FitSearch, IsNearTheExactCurve) {
  std::mt19937 random(2);
  Gap whole;
  Gap heuristic;
  for (uint32_t round = 0; round < 150; ++round) {
    const Task task = RandomTask(random, 5 + round % 4, round % 2 == 0);
    const std::optional<Curve> exact = SolveExactly(task, {});
    ASSERT_TRUE(exact);
    ExpectSound(task, *exact);
    SearchOptions options = {.most_cost = 1e9};
    const Curve found = Search(task, options);
    ExpectSound(task, found);
    Compare(found, *exact, whole);
    options.is_exact_allowed = false;
    const Curve curve = Search(task, options);
    ExpectSound(task, curve);
    Compare(curve, *exact, heuristic);
  }
  EXPECT_EQ(whole.most, 0);
  EXPECT_LE(heuristic.mean(), 0.02);
}

TEST(FitSearch, LargerTasksAreSound) {
  std::mt19937 random(3);
  for (uint32_t round = 0; round < 20; ++round) {
    const Task task = RandomTask(random, 20 + round * 5, round % 2 == 0);
    ExpectSound(task, Search(task, {.most_cost = 1e9}));
  }
}

}  // namespace
}  // namespace stowplan::fit
