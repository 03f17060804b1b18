// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowplan/pack.h"
#include "unit/pack/brute_force.h"
#include "unit/pack/must_solve.h"

namespace stowplan::pack {
namespace {

using testing::IsEmpty;

Problem Random(std::mt19937& chance, size_t count, int64_t times, int64_t sizes,
               int64_t alignments) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(chance() % static_cast<uint64_t>(n));
  };
  Problem problem;
  for (size_t b = 0; b < count; ++b) {
    const int64_t start = below(times);
    problem.buffers.push_back({.size = below(sizes + 1),
                               .start = start,
                               .end = start + 1 + below(times - start),
                               .alignment = 1 + below(alignments)});
  }
  return problem;
}

TEST(PackSolve, NothingNeedsNothing) {
  const Answer answer = MustSolve({}, {});
  EXPECT_EQ(answer.status, Status::kOptimal);
  EXPECT_EQ(answer.plan.height, 0);
}

TEST(PackSolve, ReusesAPlaceThatIsFreeAgain) {
  const Problem problem = {.buffers = {{4, 0, 2}, {4, 2, 4}, {2, 0, 4}}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_EQ(answer.plan.height, 6);
  EXPECT_EQ(answer.status, Status::kOptimal);
  EXPECT_EQ(answer.load, (LoadBound{6, 0}));
}

TEST(PackSolve, EqualsBruteForceOnSmallProblems) {
  std::mt19937 chance(1);
  for (int round = 0; round < 3000; ++round) {
    const Problem problem = Random(chance, 1 + chance() % 6, 5, 4, 1);
    const Answer answer = MustSolve(problem, {});
    ASSERT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
    const int64_t least = LeastHeight(problem);
    ASSERT_EQ(answer.plan.height, least) << "round " << round;
    ASSERT_EQ(answer.status, Status::kOptimal);
  }
}

// Few problems need more than their load; these do.
TEST(PackSolve, ProvesOptimaAboveTheLoad) {
  struct Known {
    std::vector<Buffer> buffers;
    int64_t least;
  };
  const Known cases[] = {
      {{{2, 2, 3},
        {7, 0, 3},
        {3, 1, 2},
        {3, 1, 4},
        {3, 1, 2},
        {4, 2, 5},
        {9, 0, 1},
        {9, 3, 4},
        {12, 4, 5}},
       17},
      {{{7, 1, 4},
        {7, 2, 5},
        {4, 0, 4},
        {5, 2, 3},
        {2, 0, 4},
        {2, 0, 3},
        {19, 0, 1},
        {12, 1, 2},
        {7, 3, 4},
        {20, 4, 5}},
       29},
      {{{6, 0, 1},
        {7, 1, 4},
        {3, 1, 3},
        {5, 3, 4},
        {6, 2, 5},
        {1, 0, 3},
        {11, 0, 1},
        {7, 1, 2},
        {1, 2, 3},
        {12, 4, 5}},
       19},
  };
  for (const Known& c : cases) {
    const Problem problem = {.buffers = c.buffers};
    EXPECT_EQ(LeastHeight(problem), c.least);
    const Answer answer = MustSolve(problem, {});
    EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
    EXPECT_EQ(answer.plan.height, c.least);
    EXPECT_EQ(answer.status, Status::kOptimal);
    EXPECT_EQ(answer.bound, c.least);
    EXPECT_LT(answer.load.bytes, c.least);
    EXPECT_EQ(MustSolve(problem, {.capacity = c.least - 1}).status, Status::kInfeasible);
  }
}

// Where the bound is above the load, the buffers that are named need as much by themselves.
TEST(PackSolve, NamesBuffersThatNeedAsMuch) {
  std::mt19937 chance(11);
  int raised = 0;
  for (int round = 0; round < 4000; ++round) {
    const Problem problem = Random(chance, 6, 4, 5, round % 2 == 0 ? 1 : 3);
    const Answer answer = MustSolve(problem, {});
    if (answer.bound <= answer.load.bytes) continue;
    ++raised;
    ASSERT_FALSE(answer.witness.empty());
    Problem part;
    for (const uint32_t b : answer.witness) part.buffers.push_back(problem.buffers[b]);
    ASSERT_EQ(LeastHeight(part), answer.bound) << "round " << round;
  }
  EXPECT_GT(raised, 100);
}

TEST(PackSolve, TheOrderOfBuffersDoesNotMatter) {
  std::mt19937 chance(12);
  for (int round = 0; round < 20; ++round) {
    Problem problem = Random(chance, 60, 30, 40, 1);
    const Answer answer = MustSolve(problem, {.effort = 20000});
    // Buffers that are alike may change places.
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::multiset<int64_t>> offsets;
    for (size_t b = 0; b < problem.buffers.size(); ++b) {
      const Buffer& buffer = problem.buffers[b];
      if (buffer.size != 0)
        offsets[{buffer.start, buffer.end, buffer.size}].insert(answer.plan.offsets[b]);
    }
    std::ranges::shuffle(problem.buffers, chance);
    const Answer again = MustSolve(problem, {.effort = 20000});
    EXPECT_EQ(again.plan.height, answer.plan.height);
    for (size_t b = 0; b < problem.buffers.size(); ++b) {
      const Buffer& buffer = problem.buffers[b];
      if (buffer.size == 0) continue;
      std::multiset<int64_t>& places = offsets[{buffer.start, buffer.end, buffer.size}];
      const auto place = places.find(again.plan.offsets[b]);
      ASSERT_NE(place, places.end());
      places.erase(place);
    }
  }
}

TEST(PackSolve, TheNumberOfThreadsDoesNotMatter) {
  std::mt19937 chance(13);
  for (int round = 0; round < 10; ++round) {
    const Problem problem = Random(chance, 80, 30, 1000, 1);
    const Answer one = MustSolve(problem, {.effort = 20000});
    const Answer four = MustSolve(problem, {.threads = 4, .effort = 20000});
    EXPECT_EQ(one.plan, four.plan);
    EXPECT_EQ(one.bound, four.bound);
    EXPECT_EQ(one.witness, four.witness);
  }
}

// Two stretches of time that nothing is alive across.
TEST(PackSolve, PlansStretchesOfTimeByThemselves) {
  const Problem problem = {
      .buffers = {{4, 0, 2}, {4, 2, 4}, {2, 0, 4}, {3, 10, 12}, {9, 11, 13}, {1, 12, 13}}};
  const Answer answer = MustSolve(problem, {});
  EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
  EXPECT_EQ(answer.plan.height, 12);
  EXPECT_EQ(answer.status, Status::kOptimal);
  EXPECT_EQ(answer.load, (LoadBound{12, 11}));
}

TEST(PackSolve, RespectsAlignments) {
  std::mt19937 chance(2);
  for (int round = 0; round < 1000; ++round) {
    const Problem problem = Random(chance, 1 + chance() % 5, 4, 5, 4);
    const Answer answer = MustSolve(problem, {});
    ASSERT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
    ASSERT_EQ(answer.plan.height, LeastHeight(problem)) << "round " << round;
  }
}

TEST(PackSolve, DecidesWhetherACapacityIsEnough) {
  std::mt19937 chance(3);
  for (int round = 0; round < 1000; ++round) {
    const Problem problem = Random(chance, 2 + chance() % 5, 5, 4, 1);
    const int64_t least = LeastHeight(problem);
    if (least == 0) continue;
    const Answer enough = MustSolve(problem, {.capacity = least});
    ASSERT_LE(enough.plan.height, least);
    const Answer too_little = MustSolve(problem, {.capacity = least - 1});
    ASSERT_EQ(too_little.status, Status::kInfeasible);
    ASSERT_THAT(CheckPlan(problem, too_little.plan), IsEmpty());
  }
}

TEST(PackSolve, LargerPlansAreSoundAndTheSameEachTime) {
  std::mt19937 chance(4);
  for (int round = 0; round < 8; ++round) {
    const Problem problem = Random(chance, 300, 200, 1000, 3);
    const Answer answer = MustSolve(problem, {.effort = 2000});
    ASSERT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
    ASSERT_GE(answer.plan.height, answer.bound);
    ASSERT_EQ(answer.plan, MustSolve(problem, {.effort = 2000}).plan);
  }
}

TEST(PackSolve, StopsWhenAsked) {
  std::mt19937 chance(5);
  const Problem problem = Random(chance, 400, 300, 1 << 20, 1);
  int asked = 0;
  const Answer answer =
      MustSolve(problem, {.effort = INT64_MAX, .should_stop = [&] { return ++asked > 20; }});
  EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
}

TEST(PackCheck, FindsOverlapsAndWrongHeights) {
  const Problem problem = {.buffers = {{4, 0, 2}, {4, 1, 3}}};
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 4}, .height = 8}), IsEmpty());
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 3}, .height = 7}),
              testing::ElementsAre(testing::HasSubstr("share bytes at time 1")));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 4}, .height = 9}),
              testing::ElementsAre(testing::HasSubstr("8 high, but says 9")));
  EXPECT_THAT(CheckPlan({.buffers = {{4, 0, 2, 8}}}, {.offsets = {4}, .height = 8}),
              testing::ElementsAre(testing::HasSubstr("not a multiple of 8")));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {-4, 4}, .height = 8}),
              testing::ElementsAre(testing::HasSubstr("lies at -4")));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0}, .height = 4}),
              testing::ElementsAre(testing::HasSubstr("1 offsets for 2 buffers")));
}

TEST(PackCheck, FindsProblemsWithoutSense) {
  EXPECT_THAT(CheckProblem({.buffers = {{4, 0, 2}}}), IsEmpty());
  EXPECT_EQ(CheckProblem({.buffers = {{-1, 0, 2}}}).size(), 1);
  EXPECT_EQ(CheckProblem({.buffers = {{1, 2, 2}}}).size(), 1);
  EXPECT_EQ(CheckProblem({.buffers = {{1, 0, 2, 0}}}).size(), 1);
  EXPECT_EQ(CheckProblem({.buffers = {{INT64_MAX, 0, 2}, {INT64_MAX, 0, 2}}}).size(), 1);
}

}  // namespace
}  // namespace stowplan::pack
