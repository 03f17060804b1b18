// SPDX-License-Identifier: Apache-2.0
// MiniMalloc's own benchmarks: a plan of 1048576 bytes exists for each of the eleven.
#include <filesystem>
#include <iostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/csv.h"
#include "stowplan/pack.h"
#include "unit/pack/must_solve.h"

namespace stowplan::pack {
namespace {

constexpr int64_t kCapacity = 1048576;

Problem Read(char letter) {
  const std::string file =
      std::string(STOWPLAN_TESTS_DIR) + "/../corpus/packing/" + letter + ".1048576.csv";
  const auto source = ReadSource(file);
  EXPECT_TRUE(source.has_value()) << file;
  const Result<Table> table = ReadTable(*source);
  EXPECT_TRUE(table.has_value()) << file;
  return table->problem;
}

TEST(PackMinimalloc, EachProblemFitsItsCapacity) {
  int fitting = 0;
  for (char letter = 'A'; letter <= 'K'; ++letter) {
    const Problem problem = Read(letter);
    const Answer answer = MustSolve(problem, {.capacity = kCapacity});
    ASSERT_THAT(CheckPlan(problem, answer.plan), testing::IsEmpty()) << letter;
    EXPECT_LE(answer.plan.height, kCapacity) << letter;
    fitting += answer.plan.height <= kCapacity ? 1 : 0;
  }
  std::cout << fitting << " of 11 fit\n";
}

// The load is the optimum of these, and they are found without being told.
TEST(PackMinimalloc, PlansAsLowAsTheLoad) {
  for (const char letter : {'A', 'B', 'C', 'E', 'F', 'G', 'H', 'I', 'K'}) {
    const Problem problem = Read(letter);
    const Answer answer = MustSolve(problem, {});
    ASSERT_THAT(CheckPlan(problem, answer.plan), testing::IsEmpty()) << letter;
    EXPECT_EQ(answer.status, Status::kOptimal) << letter;
    EXPECT_EQ(answer.plan.height, answer.load.bytes) << letter;
  }
}

TEST(PackMinimalloc, ThreadsFindTheSamePlan) {
  const Problem problem = Read('D');
  const Answer one = MustSolve(problem, {.effort = 60000});
  const Answer three = MustSolve(problem, {.threads = 3, .effort = 60000});
  EXPECT_EQ(one.plan, three.plan);
  EXPECT_EQ(one.bound, three.bound);
}

}  // namespace
}  // namespace stowplan::pack
