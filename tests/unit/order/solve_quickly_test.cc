// SPDX-License-Identifier: Apache-2.0
#include "order/solve_quickly.h"

#include <random>

#include <gtest/gtest.h>

namespace stowplan::order {
namespace {

TEST(SolveQuickly, AgreesWithTheFullSearch) {
  std::mt19937 random(5);
  int optimal = 0;
  for (int t = 0; t < 60; ++t) {
    const auto draw = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    const uint32_t nodes = 1 + draw(60);
    ProblemParts parts;
    for (Node i = 0; i < nodes; ++i) {
      parts.inner.push_back(draw(4) == 0 ? draw(20) : 0);
      parts.lives.push_back(
          {.size = 1 + draw(30), .begin = i, .lasts = draw(8) == 0, .is_capped = draw(10) == 0});
      parts.touches.emplace_back();
      if (i == 0) continue;
      for (uint32_t k = draw(3); k > 0; --k) {
        const Node from = draw(i);
        parts.edges.emplace_back(from, i);
        parts.touches[from].push_back(i);
      }
    }
    const Problem problem = MakeProblem(std::move(parts));
    const Answer quick = SolveQuickly(problem);
    const Answer full = Solve(problem);
    ASSERT_TRUE(IsPossible(problem, quick.order));
    const Loads loads = ComputeLoads(problem, quick.order);
    EXPECT_EQ(loads.peak, quick.peak);
    EXPECT_LE(loads.capped_peak, ComputeLoads(problem, GivenOrder(problem)).capped_peak);
    EXPECT_EQ(quick.given_peak, full.given_peak);
    EXPECT_LE(quick.peak, quick.given_peak);
    // Each bound holds for the other's order.
    EXPECT_LE(quick.bound, full.peak);
    EXPECT_LE(full.bound, quick.peak);
    EXPECT_EQ(SolveQuickly(problem).order, quick.order);
    optimal += quick.is_optimal() ? 1 : 0;
  }
  EXPECT_GT(optimal, 0);
}

TEST(SolveQuickly, HasAnAnswerForNothing) {
  const Answer answer = SolveQuickly(MakeProblem({}));
  EXPECT_EQ(answer.peak, 0);
  EXPECT_TRUE(answer.is_optimal());
}

}  // namespace
}  // namespace stowplan::order
