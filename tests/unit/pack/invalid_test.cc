// SPDX-License-Identifier: Apache-2.0
// Problems that make no sense, as an embedder may hand them in: each is an error that names the
// buffer, never a crash.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowplan/pack.h"
#include "unit/pack/must_solve.h"

namespace stowplan::pack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct Case {
  Problem problem;
  std::string error;  // the first
};

std::vector<Case> Cases() {
  const std::vector<Buffer> two = {{4, 0, 4, 2}, {4, 1, 5}};
  const std::vector<Pool> pools = {{"fast", 4}, {"slow", 8}};
  return {
      {{.buffers = {{4, 0, 4}, {-1, 0, 2}}}, "buffer `b`: the size -1 is negative"},
      {{.buffers = {{kLeast, 0, 4}, {4, 0, 2}}}, "the size -9223372036854775808 is negative"},
      {{.buffers = {{4, 0, 4, 0}, {4, 0, 2}}}, "buffer `a`: the alignment 0 is not positive"},
      {{.buffers = {{4, 0, 4}, {4, 0, 2, -8}}}, "buffer `b`: the alignment -8 is not positive"},
      {{.buffers = {{4, 3, 3}, {4, 0, 2}}}, "buffer `a`: its life [3, 3) is empty"},
      {{.buffers = {{4, 0, 4}, {4, 3, 2}}}, "buffer `b`: its life [3, 2) ends before it starts"},
      {{.buffers = {{4, kLeast, kMost}, {4, 3, 4}}}, "is longer than 64 bits can count"},
      {{.buffers = {{kMost, 0, 2}, {kMost, 0, 2}}}, "do not fit in 64 bits together"},
      {{.buffers = {{4, 0, 2, kMost}, {4, 0, 2}}}, "do not fit in 64 bits together"},
      {{.buffers = two, .gaps = {{7, 1, 2}}}, "buffer 7: there is no such buffer"},
      {{.buffers = two, .gaps = {{0, 1, 9}}}, "a gap is not within the buffer's life"},
      {{.buffers = two, .gaps = {{0, 1, 2, -1, 2}}}, "what is in use in a gap"},
      {{.buffers = two, .pins = {{7, 0}}}, "buffer 7: there is no such buffer"},
      {{.buffers = two, .pins = {{0, -2}}}, "buffer `a`: the offset -2 is negative"},
      {{.buffers = two, .pins = {{0, kMost - 1}}}, "buffer `a`: the buffer would end beyond"},
      {{.buffers = two, .pins = {{0, 1}}}, "buffer `a`: 1 is no multiple of the alignment 2"},
      {{.buffers = two, .pins = {{0, 4}, {1, 6}}}, "buffer `b`: pinned to where buffer `a` is"},
      {{.buffers = two, .pins = {{1, 6}, {0, 0}}}, "not in the order of buffers"},
      {{.buffers = two, .hints = {{1, kMost}}}, "buffer `b`: the buffer would end beyond 64 bits"},
      {{.buffers = two, .hints = {{7, 0}}}, "buffer 7: there is no such buffer"},
      {{.buffers = two, .groups = {{0, 7}}}, "buffer 7: there is no such buffer"},
      {{.buffers = two, .groups = {{0, 1}, {1}}}, "buffer `b`: the buffer is in two groups"},
      {{.buffers = two, .apart = {{0, 7}}}, "buffer 7: there is no such buffer"},
      {{.buffers = two, .apart = {{1, 1}}}, "buffer `b`: a buffer cannot be apart from itself"},
      {{.buffers = two, .pools = {{"fast", -4}}}, "pool 0: the capacity -4 is negative"},
      {{.buffers = two, .pools = {{"", 4}}}, "pool 0: a pool needs a name"},
      {{.buffers = two, .pools = pools, .choices = {{7, {0}}}}, "buffer 7: there is no such"},
      {{.buffers = two, .pools = pools, .choices = {{1, {2}}}}, "buffer `b`: there is no pool 2"},
      {{.buffers = two, .pools = pools, .choices = {{1, {}}}}, "buffer `b`: no pool is left"},
      {{.buffers = two, .choices = {{1, {0}}}}, "buffer `b`: there is no pool 0"},
  };
}

TEST(PackInvalid, SolveFailsAndNamesTheBuffer) {
  for (const Case& c : Cases()) {
    const Result<Answer> answer = Solve(c.problem, {}, {"a", "b"});
    ASSERT_FALSE(answer) << c.error;
    EXPECT_THAT(answer.error().front().message, HasSubstr(c.error));
    // Without names there are numbers.
    const Result<Answer> unnamed = Solve(c.problem);
    ASSERT_FALSE(unnamed) << c.error;
    EXPECT_THAT(unnamed.error().front().message, testing::MatchesRegex("(buffer|pool) [0-9]+: .*"));
  }
}

TEST(PackInvalid, CheckPlanComplainsOfTheProblem) {
  for (const Case& c : Cases()) {
    const Plan plan = {.offsets = {0, 4}, .pools = {}, .height = 8};
    const std::vector<std::string> complaints = CheckPlan(c.problem, plan, {"a", "b"});
    ASSERT_FALSE(complaints.empty()) << c.error;
    EXPECT_THAT(complaints.front(), HasSubstr(c.error));
  }
}

TEST(PackInvalid, SaysAllThatIsWrongWithTheBuffers) {
  const Result<Answer> answer = Solve({.buffers = {{-1, 0, 2, 0}, {4, 2, 2}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(Render(answer.error()),
            "stowplan: error: buffer 0: the size -1 is negative\n"
            "stowplan: error: buffer 0: the alignment 0 is not positive\n"
            "stowplan: error: buffer 1: its life [2, 2) is empty\n");
}

TEST(PackInvalid, NamesAreForAllOrNone) {
  const Problem problem = {.buffers = {{4, 0, 2}, {4, 0, 2}}};
  const Result<Answer> answer = Solve(problem, {}, {"a"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().front().message, "there are 1 names for 2 buffers");
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0}, .height = 4}, {"a"}),
              ElementsAre("there are 1 names for 2 buffers"));
}

TEST(PackInvalid, OptionsThatMakeNoSenseAreErrors) {
  const Problem problem = {.buffers = {{4, 0, 2}}};
  const auto error = [&](const SolveOptions& options) {
    const Result<Answer> answer = Solve(problem, options);
    return answer ? "none" : answer.error().front().message;
  };
  EXPECT_EQ(error({.capacity = -1}), "the capacity -1 is negative");
  EXPECT_EQ(error({.effort = -1}), "the effort -1 is negative");
  EXPECT_EQ(error({.threads = 0}), "the number of threads is 0; it must be 1 to 1024");
  EXPECT_EQ(error({.threads = 5000}), "the number of threads is 5000; it must be 1 to 1024");
  EXPECT_EQ(error({.solver = "magic"}), "there is no solver `magic`");
  EXPECT_EQ(error({.capacity = 0}), "none");
  EXPECT_EQ(error({.effort = 0}), "none");
  for (const std::string_view solver : SolverNames()) EXPECT_EQ(error({.solver = solver}), "none");
}

// What makes sense is solved at the ends of what 64 bits hold.
TEST(PackInvalid, LargeNumbersThatMakeSenseAreSolved) {
  const Problem wide = {
      .buffers = {{kMost / 4, kLeast, kLeast + 2}, {kMost / 4, kMost - 2, kMost}}};
  EXPECT_EQ(MustSolve(wide).plan.height, kMost / 4);
  const Problem high = {.buffers = {{kMost / 2 - 2, 0, 2}, {kMost / 2 - 2, 1, 3}}};
  EXPECT_EQ(MustSolve(high).plan.height, kMost / 2 * 2 - 4);
}

// The example of the header.
TEST(PackInvalid, TheExampleOfTheHeader) {
  Problem problem;
  problem.buffers.push_back({.size = 3, .start = 0, .end = 4});
  problem.buffers.push_back({.size = 3, .start = 2, .end = 6});
  problem.buffers.push_back({.size = 3, .start = 4, .end = 8, .alignment = 2});
  problem.pins.push_back({.buffer = 0, .offset = 0});
  const Answer answer = MustSolve(problem);
  EXPECT_THAT(answer.plan.offsets, ElementsAre(0, 3, 0));
  EXPECT_EQ(answer.plan.height, 6);
  EXPECT_EQ(Name(answer.status), "optimal");
}

}  // namespace
}  // namespace stowplan::pack
