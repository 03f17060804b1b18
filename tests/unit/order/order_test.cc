// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "order/cut.h"
#include "order/exact.h"
#include "order/first_orders.h"
#include "order/solve.h"
#include "order/window.h"
#include "unit/order/made_problems.h"

namespace stowplan::order {
namespace {

// Nodes that read some earlier ones, and lives from a node to its readers; with lives from before
// and to the end, in-place writes, and a small memory.
Problem RandomProblem(std::mt19937& random, size_t nodes_drawn, bool is_rich) {
  const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  const auto nodes = static_cast<uint32_t>(nodes_drawn);
  ProblemParts parts;
  for (Node i = 0; i < nodes; ++i) {
    parts.inner.push_back(draw(4) == 0 ? draw(20) : 0);
    parts.lives.push_back({.size = 1 + draw(30),
                           .begin = i,
                           .lasts = is_rich && draw(6) == 0,
                           .is_capped = is_rich && draw(8) == 0});
    parts.touches.emplace_back();
  }
  if (is_rich) {
    for (uint32_t k = 0; k < 2; ++k) {
      parts.lives.push_back({.size = 1 + draw(30)});
      parts.touches.push_back({draw(nodes), draw(nodes)});
    }
  }
  for (Node i = 1; i < nodes; ++i) {
    for (uint32_t k = draw(3); k > 0; --k) {
      const Node from = draw(i);
      parts.edges.emplace_back(from, i);
      parts.touches[from].push_back(i);
      if (is_rich && draw(2) == 0) parts.overwrites.push_back({i, i, from});
    }
  }
  return MakeProblem(std::move(parts));
}

// Calls `visit` with each possible order.
template <class Visit>
void ForEachOrder(const Problem& problem, Order& order, std::vector<uint8_t>& is_done,
                  const Visit& visit) {
  if (order.size() == problem.size()) visit(order);
  for (Node i = 0; i < problem.size(); ++i) {
    if (is_done[i] != 0 ||
        std::ranges::any_of(problem.before[i], [&](Node b) { return is_done[b] == 0; }))
      continue;
    is_done[i] = 1;
    order.push_back(i);
    ForEachOrder(problem, order, is_done, visit);
    order.pop_back();
    is_done[i] = 0;
  }
}

struct Truth {
  int64_t best = std::numeric_limits<int64_t>::max();  // of those that the small memory allows
  int64_t best_of_all = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> least;  // by node: the least load of any order
};

Truth EnumerateOrders(const Problem& problem) {
  Truth truth;
  truth.least.assign(problem.size(), std::numeric_limits<int64_t>::max());
  const int64_t limit = ComputeLoads(problem, GivenOrder(problem)).capped_peak;
  Order order;
  std::vector<uint8_t> is_done(problem.size(), 0);
  ForEachOrder(problem, order, is_done, [&](const Order& full) {
    const Loads loads = ComputeLoads(problem, full);
    truth.best_of_all = std::min(truth.best_of_all, loads.peak);
    if (loads.capped_peak <= limit) truth.best = std::min(truth.best, loads.peak);
    for (size_t k = 0; k < full.size(); ++k)
      truth.least[full[k]] = std::min(truth.least[full[k]], loads.loads[k]);
  });
  return truth;
}

TEST(OrderProblem, LoadsOfAChainAndABranch) {
  // a (10) -> b (20) -> c (5); d (7) reads a and c.
  ProblemParts parts;
  parts.inner = {0, 3, 0, 0};
  parts.edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 3}};
  for (const auto& [size, begin] : {std::pair(10, 0U), {20, 1U}, {5, 2U}, {7, 3U}})
    parts.lives.push_back({.size = size, .begin = begin, .lasts = begin == 3});
  parts.touches = {{1, 3}, {2}, {3}, {}};
  parts.overwrites = {{.node = 2, .output = 2, .operand = 1}};
  const Problem problem = MakeProblem(std::move(parts));
  const Loads loads = ComputeLoads(problem, GivenOrder(problem));
  EXPECT_EQ(loads.loads, (std::vector<int64_t>{10, 33, 30, 22}));
  EXPECT_EQ(loads.peak, 33);
  EXPECT_EQ(loads.peak_place, 1U);
  EXPECT_TRUE(IsPossible(problem, std::vector<Node>{0, 1, 2, 3}));
  EXPECT_FALSE(IsPossible(problem, std::vector<Node>{0, 2, 1, 3}));
  EXPECT_FALSE(IsPossible(problem, std::vector<Node>{0, 1, 2}));
  EXPECT_FALSE(IsPossible(problem, std::vector<Node>{0, 1, 1, 3}));
}

TEST(OrderProblem, RulesGivePossibleOrders) {
  std::mt19937 random(1);
  for (int t = 0; t < 200; ++t) {
    const Problem problem = RandomProblem(random, 1 + random() % 60, true);
    const Order given = GivenOrder(problem);
    for (const DepthFirstRule rule : kDepthFirstRules)
      EXPECT_TRUE(IsPossible(problem, DepthFirstOrder(problem, rule)));
    for (const ListRule rule : kListRules)
      EXPECT_TRUE(IsPossible(problem, ListOrder(problem, given, rule)));
    EXPECT_TRUE(IsPossible(problem, LateOrder(problem, given)));
    EXPECT_TRUE(IsPossible(problem, LimitedOrder(problem, given, 50)));
  }
}

TEST(OrderCut, IsTheLeastLoadOfAnyOrder) {
  std::mt19937 random(2);
  for (int t = 0; t < 300; ++t) {
    const Problem problem = RandomProblem(random, 1 + random() % 7, false);
    const Truth truth = EnumerateOrders(problem);
    Cutter cutter(problem);
    for (Node i = 0; i < problem.size(); ++i) {
      EXPECT_EQ(cutter.FindLeastLoad(i), truth.least[i]) << "problem " << t << " node " << i;
      for (const bool are_many : {false, true}) {
        // The cut is a set that an order can have before the node, and gives it this load.
        const std::vector<uint8_t> is_before = cutter.NodesBefore(are_many);
        Order order;
        for (Node k = 0; k < problem.size(); ++k) {
          if (is_before[k] != 0) order.push_back(k);
        }
        const size_t place = order.size();
        order.push_back(i);
        for (Node k = 0; k < problem.size(); ++k) {
          if (is_before[k] == 0 && k != i) order.push_back(k);
        }
        ASSERT_TRUE(IsPossible(problem, order));
        EXPECT_EQ(ComputeLoads(problem, order).loads[place], truth.least[i]);
      }
    }
  }
}

TEST(OrderCut, NeverExceedsTheLeastLoad) {
  std::mt19937 random(3);
  int64_t exact = 0;
  int64_t nodes = 0;
  for (int t = 0; t < 300; ++t) {
    const Problem problem = RandomProblem(random, 1 + random() % 7, true);
    const Truth truth = EnumerateOrders(problem);
    Cutter cutter(problem);
    for (Node i = 0; i < problem.size(); ++i) {
      const int64_t least = cutter.FindLeastLoad(i);
      EXPECT_LE(least, truth.least[i]) << "problem " << t << " node " << i;
      exact += least == truth.least[i] ? 1 : 0;
      ++nodes;
    }
  }
  // Where several operands could be written over, the bound assumes the best of them.
  EXPECT_GT(exact * 100, nodes * 95);
}

TEST(OrderExact, IsTheBestOfAllOrders) {
  std::mt19937 random(4);
  for (int t = 0; t < 300; ++t) {
    const Problem problem = RandomProblem(random, 1 + random() % 8, true);
    const Loads given = ComputeLoads(problem, GivenOrder(problem));
    const std::optional<Order> best = FindBestOrder(problem, given.capped_peak, 100'000);
    ASSERT_TRUE(best);
    ASSERT_TRUE(IsPossible(problem, *best));
    EXPECT_EQ(ComputeLoads(problem, *best).peak, EnumerateOrders(problem).best) << "problem " << t;
  }
}

TEST(OrderSolve, SmallProblemsAreSolved) {
  std::mt19937 random(5);
  for (int t = 0; t < 300; ++t) {
    const Problem problem = RandomProblem(random, 1 + random() % 8, true);
    const Answer answer = Solve(problem);
    ASSERT_TRUE(IsPossible(problem, answer.order));
    EXPECT_EQ(ComputeLoads(problem, answer.order).peak, answer.peak);
    EXPECT_EQ(answer.peak, EnumerateOrders(problem).best) << "problem " << t;
    EXPECT_EQ(answer.bound, answer.peak) << "problem " << t;
  }
}

TEST(OrderSolve, IsNeverWorseThanWhatIsGiven) {
  std::mt19937 random(6);
  for (int t = 0; t < 20; ++t) {
    const Problem problem = RandomProblem(random, 200 + random() % 200, true);
    const Answer answer = Solve(problem);
    const Loads given = ComputeLoads(problem, GivenOrder(problem));
    const Loads found = ComputeLoads(problem, answer.order);
    ASSERT_TRUE(IsPossible(problem, answer.order));
    EXPECT_EQ(answer.given_peak, given.peak);
    EXPECT_EQ(answer.peak, found.peak);
    EXPECT_LE(found.peak, given.peak);
    EXPECT_LE(found.capped_peak, given.capped_peak);
    EXPECT_LE(answer.bound, answer.peak);
    EXPECT_EQ(Solve(problem).order, answer.order);
  }
}

TEST(OrderSolve, EndsWhenAsked) {
  std::mt19937 random(7);
  const Problem problem = RandomProblem(random, 300, true);
  const Answer answer = Solve(problem, {.should_stop = [] { return true; }});
  EXPECT_EQ(answer.order, GivenOrder(problem));
  EXPECT_LE(answer.bound, answer.peak);
}

TEST(OrderSolve, EffortIsLimited) {
  // Sizes at which one step too many for each pair of nodes would be noticed.
  for (const Shape shape : kShapes) {
    const Problem problem = MadeProblem(shape, shape == Shape::kBipartite ? 2'000 : 20'000);
    const int64_t effort = 40 * SizeOf(problem);
    const Answer answer = Solve(problem, {.should_stop = {}, .effort = effort});
    EXPECT_LE(answer.steps, effort);
    EXPECT_TRUE(IsPossible(problem, answer.order));
    EXPECT_EQ(ComputeLoads(problem, answer.order).peak, answer.peak);
    EXPECT_LE(answer.peak, answer.given_peak);
    EXPECT_LE(answer.bound, answer.peak);
    EXPECT_GT(answer.bound, 0);
  }
}

TEST(OrderSolve, OneNodeWithManyUsers) {
  const Problem problem = MadeProblem(Shape::kStar, 100'000);
  const Answer answer = Solve(problem);
  EXPECT_TRUE(answer.is_optimal());
}

TEST(OrderSolve, ManyUsersOfWhatIsThereFromTheStart) {
  // A node that reads 20 000 lives can come at any time, and is looked at again and again.
  ProblemParts parts;
  constexpr Node kNodes = 20'000;
  parts.inner.assign(kNodes, 0);
  for (Node i = 0; i < kNodes; ++i) {
    parts.lives.push_back({.size = 10});
    parts.touches.push_back({0, i});
  }
  parts.lives.push_back({.size = 1'000'000, .begin = 0, .lasts = true});
  parts.touches.emplace_back();
  const Problem problem = MakeProblem(std::move(parts));
  const Answer answer = Solve(problem);
  EXPECT_TRUE(IsPossible(problem, answer.order));
  EXPECT_LE(answer.bound, answer.peak);
}

TEST(OrderSolve, NothingIsTriedWithoutEffort) {
  const Problem problem = MadeProblem(Shape::kRandom, 1'000);
  const Answer answer = Solve(problem, {.should_stop = {}, .effort = 0});
  EXPECT_EQ(answer.order, GivenOrder(problem));
  EXPECT_EQ(answer.peak, answer.given_peak);
  EXPECT_EQ(answer.bound, 0);
}

TEST(OrderCut, OfFewStepsIsABoundStill) {
  const Problem problem = MadeProblem(Shape::kRandom, 500);
  Cutter cutter(problem);
  for (Node i = 0; i < problem.size(); i += 50) {
    const int64_t least = cutter.FindLeastLoad(i);
    EXPECT_TRUE(cutter.has_cut());
    const int64_t sooner = cutter.FindLeastLoad(i, {}, 100);
    EXPECT_LE(sooner, least);
    EXPECT_TRUE(cutter.has_cut() || sooner <= least);
  }
}

TEST(OrderWindow, LoadsAreThoseOfTheWhole) {
  std::mt19937 random(8);
  for (int t = 0; t < 100; ++t) {
    const Problem problem = RandomProblem(random, 20 + random() % 60, true);
    Order order = DepthFirstOrder(problem, DepthFirstRule::kGiven);
    StretchedOrder stretched(problem, order, ComputeLoads(problem, order));
    for (int step = 0; step < 5; ++step) {
      const auto count = static_cast<uint32_t>(problem.size());
      const auto first = static_cast<uint32_t>(random() % count);
      const uint32_t last = first + 1 + static_cast<uint32_t>(random() % (count - first));
      const Problem part = stretched.ProblemOf(first, last);
      const Loads given = ComputeLoads(part, GivenOrder(part));
      for (uint32_t k = first; k < last; ++k)
        ASSERT_EQ(given.loads[k - first], stretched.loads().loads[k]) << "problem " << t;
      const Order inside = DepthFirstOrder(part, DepthFirstRule::kGivenBackwards);
      stretched.Replace(first, inside, ComputeLoads(part, inside).loads);
      ASSERT_TRUE(IsPossible(problem, stretched.order()));
      const Loads loads = ComputeLoads(problem, stretched.order());
      ASSERT_EQ(loads.loads, stretched.loads().loads) << "problem " << t;
      ASSERT_EQ(loads.peak, stretched.loads().peak);
      ASSERT_EQ(loads.peak_place, stretched.loads().peak_place);
      ASSERT_EQ(loads.peak_count, stretched.loads().peak_count);
    }
  }
}

TEST(OrderSolve, NothingToOrder) { EXPECT_TRUE(Solve(MakeProblem({})).order.empty()); }

}  // namespace
}  // namespace stowplan::order
