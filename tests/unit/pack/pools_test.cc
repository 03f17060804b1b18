// SPDX-License-Identifier: Apache-2.0
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowplan/pack.h"
#include "unit/pack/must_solve.h"
#include "unit/pack/random_problem.h"

namespace stowplan::pack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PackPools, TheFirstPoolIsPreferred) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 2, 4}, {4, 0, 4}}};
  problem.pools = {{"fast", 8}, {"slow", 100}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_EQ(answer.status, Status::kOptimal);
  EXPECT_THAT(answer.plan.pools, ElementsAre(0, 0, 0));
  EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
}

TEST(PackPools, WhatDoesNotFitSpills) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 2, 4}, {4, 0, 4}}};
  problem.pools = {{"fast", 4}, {"slow", 100}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_EQ(answer.status, Status::kFeasible);
  // Two short ones are more bytes than one long one.
  EXPECT_THAT(answer.plan.pools, ElementsAre(0, 0, 1));
  EXPECT_EQ(answer.plan.height, 4);
}

TEST(PackPools, ChoicesAreKept) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 0, 2}, {4, 0, 2}}};
  problem.pools = {{"a", 8}, {"b", 8}, {"c", 8}};
  problem.choices = {{0, {2}}, {1, {1, 0}}};
  problem.groups = {{1, 2}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
  EXPECT_THAT(answer.plan.pools, ElementsAre(2, 1, 1));
}

// Whoever has no other pool is served first, though there is no reason to at first sight.
TEST(PackPools, NobodyIsLeftOutForAnothersComfort) {
  Problem problem = {.buffers = {{4, 0, 1}, {4, 0, 9}}};
  problem.pools = {{"a", 4}, {"b", 4}};
  problem.choices = {{1, {0}}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_EQ(answer.status, Status::kFeasible);
  EXPECT_THAT(answer.plan.pools, ElementsAre(1, 0));
}

TEST(PackPools, TooSmallPoolsAreProvedToBe) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 1, 4}, {1, 0, 4}}};
  problem.pools = {{"a", 4}, {"b", 4}};
  EXPECT_EQ(MustSolve(problem, {}).status, Status::kInfeasible);
  problem.pools[1].capacity = 5;
  EXPECT_EQ(MustSolve(problem, {}).status, Status::kFeasible);
  problem.choices = {{0, {0}}, {1, {0}}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_EQ(answer.status, Status::kInfeasible);
  EXPECT_THAT(answer.witness, ElementsAre(0, 1));
  // Four and five make nine, but nobody of six fits.
  problem = {.buffers = {{6, 0, 2}}};
  problem.pools = {{"a", 4}, {"b", 5}};
  EXPECT_EQ(MustSolve(problem, {}).status, Status::kInfeasible);
}

TEST(PackPools, PinsThatWouldOverlapGoToTwoPools) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 0, 2}, {4, 0, 2}}};
  problem.pools = {{"a", 16}, {"b", 16}};
  problem.pins = {{0, 4}, {1, 4}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
  EXPECT_EQ(answer.plan.pools[0] + answer.plan.pools[1], 1U);
}

// How many bytes are not where they prefer to be, times how far down.
int64_t CostOf(const Problem& problem, std::span<const uint32_t> pools) {
  int64_t cost = 0;
  for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
    const auto choice = std::ranges::lower_bound(problem.choices, b, {}, &PoolChoice::buffer);
    int64_t rank = pools[b];
    if (choice != problem.choices.end() && choice->buffer == b)
      rank = std::ranges::find(choice->pools, pools[b]) - choice->pools.begin();
    cost += rank * problem.buffers[b].size;
  }
  return cost;
}

// All ways to give buffers to pools, where each pool then has a plan.
int64_t LeastCost(const Problem& problem) {
  const size_t count = problem.buffers.size();
  int64_t least = INT64_MAX;
  std::vector<uint32_t> pools(count);
  while (true) {
    bool fits = true;
    for (const PoolChoice& choice : problem.choices)
      fits = fits && std::ranges::count(choice.pools, pools[choice.buffer]) > 0;
    if (fits && CostOf(problem, pools) < least) {
      for (uint32_t p = 0; p < problem.pools.size() && fits; ++p) {
        Problem part;
        for (size_t b = 0; b < count; ++b)
          if (pools[b] == p) part.buffers.push_back(problem.buffers[b]);
        fits = MustSolve(part, {}).plan.height <= problem.pools[p].capacity;
      }
      if (fits) least = CostOf(problem, pools);
    }
    size_t b = 0;
    while (b < count && ++pools[b] == problem.pools.size()) pools[b++] = 0;
    if (b == count) return least;
  }
}

TEST(PackPools, SmallProblemsSpillLittle) {
  ProblemMaker maker(3);
  int plans = 0;
  int best = 0;
  for (int round = 0; round < 150; ++round) {
    const Problem problem =
        maker.Make(static_cast<size_t>(2 + maker.Below(5)), 6, 6, {.pools = true});
    const Answer answer = MustSolve(problem, {});
    const int64_t least = LeastCost(problem);
    if (answer.status == Status::kInfeasible) {
      ASSERT_EQ(least, INT64_MAX);
    }
    if (least == INT64_MAX) continue;
    ++plans;
    if (answer.plan.offsets.empty()) continue;
    ASSERT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
    ASSERT_GE(CostOf(problem, answer.plan.pools), least);
    if (CostOf(problem, answer.plan.pools) == least) ++best;
  }
  EXPECT_GE(best, plans * 9 / 10) << best << " of " << plans;
}

}  // namespace
}  // namespace stowplan::pack
