// SPDX-License-Identifier: Apache-2.0
// Random problems with every feature: plans are plans, bounds are bounds, answers are the same each
// time. More rounds in the long tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/csv.h"
#include "pack/problem/loads.h"
#include "pack/svg.h"
#include "stowplan/pack.h"
#include "unit/pack/must_solve.h"
#include "unit/pack/random_problem.h"

#ifndef STOWPLAN_ROUNDS
#define STOWPLAN_ROUNDS 1000
#endif

namespace stowplan::pack {
namespace {

using testing::IsEmpty;

std::string Show(const Problem& problem) {
  Table table;
  table.problem = problem;
  std::string text = WriteTable(table);
  for (const Pool& pool : problem.pools)
    text += "--pool=" + pool.name + ":" + std::to_string(pool.capacity) + "\n";
  return text;
}

void CheckLaws(const Problem& problem, const SolveOptions& options) {
  SCOPED_TRACE(Show(problem));
  ASSERT_THAT(CheckProblem(problem), IsEmpty());
  const Answer answer = MustSolve(problem, options);
  const bool fits = answer.status == Status::kOptimal || answer.status == Status::kFeasible;
  if (fits || problem.pools.empty()) {
    ASSERT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
    ASSERT_LE(answer.bound, answer.plan.height);
  }
  ASSERT_EQ(answer.load, FindLoadBound(problem));
  if (problem.pools.empty()) {
    ASSERT_GE(answer.bound, answer.load.bytes);
    if (options.capacity) {
      ASSERT_EQ(fits, answer.plan.height <= *options.capacity);
    } else {
      ASSERT_TRUE(fits);
    }
    if (answer.status == Status::kOptimal) {
      ASSERT_EQ(answer.bound, answer.plan.height);
    }
    if (answer.status == Status::kInfeasible) {
      ASSERT_GT(answer.bound, *options.capacity);
    }
  }
  if (fits) {
    Table table;
    table.problem = problem;
    ASSERT_FALSE(DrawPlan(table, answer.plan).empty());
  }
  const Answer again = MustSolve(problem, options);
  ASSERT_EQ(again.plan, answer.plan);
  ASSERT_EQ(again.bound, answer.bound);
  ASSERT_EQ(again.status, answer.status);
}

void CheckRandom(uint32_t seed, const Features& features, int rounds) {
  ProblemMaker maker(seed);
  for (int round = 0; round < rounds; ++round) {
    const auto count = static_cast<size_t>(1 + maker.Below(round % 10 == 0 ? 40 : 9));
    const Problem problem = maker.Make(count, 12, 9, features);
    SolveOptions options = {.seed = static_cast<uint64_t>(round), .effort = 2000};
    if (round % 3 == 0 && problem.pools.empty())
      options.capacity = FindLoadBound(problem).bytes + maker.Below(4);
    ASSERT_NO_FATAL_FAILURE(CheckLaws(problem, options)) << "round " << round;
  }
}

TEST(PackProperty, PlainProblems) { CheckRandom(1, {}, STOWPLAN_ROUNDS); }
TEST(PackProperty, Alignments) { CheckRandom(2, {.alignments = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, Gaps) { CheckRandom(3, {.gaps = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, Pins) { CheckRandom(4, {.pins = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, Hints) { CheckRandom(5, {.hints = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, Groups) { CheckRandom(6, {.groups = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, PairsApart) { CheckRandom(7, {.apart = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, Pools) { CheckRandom(8, {.pools = true}, STOWPLAN_ROUNDS); }
TEST(PackProperty, EverythingButPools) {
  Features features = kEveryFeature;
  features.pools = false;
  CheckRandom(9, features, 2 * STOWPLAN_ROUNDS);
}
TEST(PackProperty, Everything) { CheckRandom(10, kEveryFeature, 2 * STOWPLAN_ROUNDS); }

}  // namespace
}  // namespace stowplan::pack
