// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowplan/stowplan_c.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <auto kFree>
struct Free {
  template <class Handle>
  void operator()(Handle* handle) const {
    kFree(handle);
  }
};
using Problem = std::unique_ptr<stowplan_problem, Free<stowplan_problem_free>>;
using Options = std::unique_ptr<stowplan_solve_options, Free<stowplan_solve_options_free>>;
using Answer = std::unique_ptr<stowplan_answer, Free<stowplan_answer_free>>;
using Messages = std::unique_ptr<stowplan_messages, Free<stowplan_messages_free>>;

uint32_t Add(const Problem& problem, int64_t size, int64_t start, int64_t end,
             int64_t alignment = 1, const char* name = nullptr) {
  uint32_t number = 0;
  EXPECT_EQ(stowplan_problem_add_buffer(problem.get(), size, start, end, alignment, name, &number),
            STOWPLAN_OK);
  return number;
}

Answer MustSolve(const Problem& problem, const Options& options = {}) {
  stowplan_answer* answer = nullptr;
  stowplan_messages* errors = nullptr;
  const stowplan_status status = stowplan_solve(problem.get(), options.get(), &answer, &errors);
  EXPECT_EQ(status, STOWPLAN_OK) << stowplan_messages_text(errors);
  EXPECT_EQ(errors, nullptr);
  return Answer(answer);
}

Messages MustFail(const Problem& problem, const Options& options = {}) {
  auto* answer = reinterpret_cast<stowplan_answer*>(1);
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_solve(problem.get(), options.get(), &answer, &errors), STOWPLAN_FAILED);
  EXPECT_EQ(answer, nullptr);
  EXPECT_NE(errors, nullptr);
  return Messages(errors);
}

std::vector<int64_t> Offsets(const Answer& answer) {
  const int64_t* offsets = stowplan_answer_offsets(answer.get());
  return {offsets, offsets + stowplan_answer_count(answer.get())};
}

std::vector<uint32_t> Pools(const Answer& answer) {
  const uint32_t* pools = stowplan_answer_pools(answer.get());
  return {pools, pools + stowplan_answer_count(answer.get())};
}

TEST(CPack, Versions) {
  EXPECT_EQ(stowplan_c_version(), STOWPLAN_C_VERSION);
  EXPECT_THAT(stowplan_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(CPack, OffsetsHeightAndBound) {
  const Problem problem(stowplan_problem_new());
  EXPECT_EQ(Add(problem, 3, 0, 4), 0U);
  EXPECT_EQ(Add(problem, 3, 2, 6), 1U);
  EXPECT_EQ(Add(problem, 3, 4, 8), 2U);
  EXPECT_EQ(stowplan_problem_pin(problem.get(), 0, 0), STOWPLAN_OK);
  const Answer answer = MustSolve(problem);
  EXPECT_EQ(stowplan_answer_get_status(answer.get()), STOWPLAN_OPTIMAL);
  EXPECT_EQ(stowplan_answer_height(answer.get()), 6);
  EXPECT_EQ(stowplan_answer_bound(answer.get()), 6);
  EXPECT_EQ(stowplan_answer_load(answer.get()), 6);
  EXPECT_EQ(stowplan_answer_load_time(answer.get()), 2);
  EXPECT_EQ(stowplan_answer_pools(answer.get()), nullptr);
  EXPECT_THAT(Offsets(answer), ElementsAre(0, 3, 0));
}

TEST(CPack, NothingToPack) {
  const Problem problem(stowplan_problem_new());
  const Answer answer = MustSolve(problem);
  EXPECT_EQ(stowplan_answer_count(answer.get()), 0U);
  EXPECT_EQ(stowplan_answer_height(answer.get()), 0);
}

// pack.h wants its tables sorted; here they may be told in any order.
TEST(CPack, TablesInAnyOrder) {
  const Problem problem(stowplan_problem_new());
  const uint32_t a = Add(problem, 8, 0, 10);
  const uint32_t b = Add(problem, 8, 2, 4);
  const uint32_t c = Add(problem, 8, 6, 8);
  const uint32_t d = Add(problem, 4, 0, 10, 4);
  stowplan_problem_add_gap(problem.get(), a, 6, 8, 0, 0);
  stowplan_problem_add_gap(problem.get(), a, 2, 4, 0, 0);
  stowplan_problem_pin(problem.get(), d, 8);
  stowplan_problem_pin(problem.get(), a, 0);
  stowplan_problem_hint(problem.get(), c, 0);
  stowplan_problem_hint(problem.get(), b, 0);
  const Answer answer = MustSolve(problem);
  EXPECT_THAT(Offsets(answer), ElementsAre(0, 0, 0, 8));
}

TEST(CPack, AliasesAndPairsThatStayApart) {
  const Problem problem(stowplan_problem_new());
  const uint32_t aliases[] = {Add(problem, 8, 0, 4), Add(problem, 8, 2, 6)};
  const uint32_t later = Add(problem, 8, 8, 9);
  EXPECT_EQ(stowplan_problem_alias(problem.get(), aliases, 2), STOWPLAN_OK);
  EXPECT_EQ(stowplan_problem_keep_apart(problem.get(), aliases[0], later), STOWPLAN_OK);
  const std::vector<int64_t> offsets = Offsets(MustSolve(problem));
  EXPECT_EQ(offsets[0], offsets[1]);
  EXPECT_EQ(std::abs(offsets[0] - offsets[2]), 8);
}

TEST(CPack, PoolsAndChoices) {
  const Problem problem(stowplan_problem_new());
  const uint32_t a = Add(problem, 4, 0, 2);
  Add(problem, 4, 0, 2);
  Add(problem, 4, 0, 2);
  uint32_t pools[2] = {};
  EXPECT_EQ(stowplan_problem_add_pool(problem.get(), "fast", 8, &pools[0]), STOWPLAN_OK);
  EXPECT_EQ(stowplan_problem_add_pool(problem.get(), "slow", 100, &pools[1]), STOWPLAN_OK);
  EXPECT_EQ(stowplan_problem_choose_pools(problem.get(), a, &pools[1], 1), STOWPLAN_OK);
  EXPECT_THAT(Pools(MustSolve(problem)), ElementsAre(1, 0, 0));
}

TEST(CPack, WhatDoesNotFitPoolsHasNoOffsets) {
  const Problem problem(stowplan_problem_new());
  Add(problem, 4, 0, 2);
  EXPECT_EQ(stowplan_problem_add_pool(problem.get(), "small", 3, nullptr), STOWPLAN_OK);
  const Answer answer = MustSolve(problem);
  EXPECT_EQ(stowplan_answer_get_status(answer.get()), STOWPLAN_INFEASIBLE);
  EXPECT_EQ(stowplan_answer_count(answer.get()), 0U);
  EXPECT_EQ(stowplan_answer_offsets(answer.get()), nullptr);
}

TEST(CPack, Capacity) {
  const Problem problem(stowplan_problem_new());
  Add(problem, 4, 0, 2);
  Add(problem, 4, 1, 3);
  const Options options(stowplan_solve_options_new());
  stowplan_solve_options_set_capacity(options.get(), 7);
  EXPECT_EQ(stowplan_answer_get_status(MustSolve(problem, options).get()), STOWPLAN_INFEASIBLE);
  stowplan_solve_options_set_capacity(options.get(), 8);
  EXPECT_EQ(stowplan_answer_get_status(MustSolve(problem, options).get()), STOWPLAN_OPTIMAL);
  stowplan_solve_options_set_capacity(options.get(), -1);
  EXPECT_EQ(stowplan_answer_height(MustSolve(problem, options).get()), 8);
}

// A problem that takes a search: buffers of many sizes, alive at many times.
Problem Hard() {
  Problem problem(stowplan_problem_new());
  uint64_t state = 7;
  const auto below = [&](uint64_t limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((state >> 33U) % limit);
  };
  for (int k = 0; k < 120; ++k) {
    const int64_t start = below(60);
    const int64_t size = 1 + below(97);
    Add(problem, size, start, start + 1 + below(30));
  }
  return problem;
}

TEST(CPack, ShouldStopEndsTheSearch) {
  const Problem problem = Hard();
  const Options options(stowplan_solve_options_new());
  std::atomic<int> asked = 0;
  const auto stop_at_once = [](void* user) {
    ++*static_cast<std::atomic<int>*>(user);
    return 1;
  };
  stowplan_solve_options_set_should_stop(options.get(), stop_at_once, &asked);
  const Answer stopped = MustSolve(problem, options);
  EXPECT_GT(asked, 0);
  EXPECT_EQ(stowplan_answer_count(stopped.get()), 120U);
  EXPECT_GE(stowplan_answer_height(stopped.get()), stowplan_answer_bound(stopped.get()));
  stowplan_solve_options_set_should_stop(options.get(), nullptr, nullptr);
  const int before = asked;
  const Answer full = MustSolve(problem, options);
  EXPECT_EQ(asked, before);
  EXPECT_LE(stowplan_answer_height(full.get()), stowplan_answer_height(stopped.get()));
}

TEST(CPack, ThreadsDoNotChangeTheAnswer) {
  const Problem problem = Hard();
  const Options options(stowplan_solve_options_new());
  stowplan_solve_options_set_effort(options.get(), 20'000);
  const std::vector<int64_t> one = Offsets(MustSolve(problem, options));
  stowplan_solve_options_set_threads(options.get(), 3);
  EXPECT_EQ(Offsets(MustSolve(problem, options)), one);
}

// One problem, solved by several threads at once.
TEST(CPack, AProblemMayBeSharedByThreads) {
  const Problem problem = Hard();
  const Options options(stowplan_solve_options_new());
  stowplan_solve_options_set_effort(options.get(), 2'000);
  std::vector<std::vector<int64_t>> offsets(3);
  {
    std::vector<std::jthread> threads;
    for (std::vector<int64_t>& mine : offsets)
      threads.emplace_back([&] { mine = Offsets(MustSolve(problem, options)); });
  }
  EXPECT_EQ(offsets[0], offsets[1]);
  EXPECT_EQ(offsets[0], offsets[2]);
}

TEST(CPack, MistakesNameTheBuffer) {
  const Problem problem(stowplan_problem_new());
  Add(problem, 8, 0, 4, 1, "fine");
  Add(problem, 8, 4, 4, 1, "never alive");
  Add(problem, -8, 0, 4);
  const Messages errors = MustFail(problem);
  ASSERT_EQ(stowplan_messages_count(errors.get()), 2U);
  EXPECT_THAT(stowplan_messages_text(errors.get()), HasSubstr("buffer `never alive`"));
  stowplan_message message = {};
  message.size = sizeof(message);
  ASSERT_EQ(stowplan_messages_get(errors.get(), 1, &message), STOWPLAN_OK);
  EXPECT_EQ(message.severity, STOWPLAN_ERROR);
  EXPECT_THAT(message.text, HasSubstr("buffer `2`"));
  EXPECT_EQ(stowplan_messages_get(errors.get(), 2, &message), STOWPLAN_MISUSE);
}

TEST(CPack, NumbersOutOfRangeAreMistakes) {
  const auto expect_failure = [](auto change) {
    const Problem problem(stowplan_problem_new());
    Add(problem, 8, 0, 4);
    change(problem.get());
    MustFail(problem);
  };
  const uint32_t far[] = {0, 4'000'000'000U};
  expect_failure([](auto* p) { stowplan_problem_pin(p, 7, 0); });
  expect_failure([](auto* p) { stowplan_problem_hint(p, 7, 0); });
  expect_failure([](auto* p) { stowplan_problem_add_gap(p, 7, 0, 1, 0, 0); });
  expect_failure([](auto* p) { stowplan_problem_keep_apart(p, 0, 7); });
  expect_failure([&](auto* p) { stowplan_problem_alias(p, far, 2); });
  expect_failure([&](auto* p) { stowplan_problem_choose_pools(p, 0, far, 1); });
  expect_failure([](auto* p) { stowplan_problem_add_pool(p, "below zero", -1, nullptr); });
  expect_failure([](auto* p) { stowplan_problem_add_buffer(p, 8, 0, 4, 0, nullptr, nullptr); });
  expect_failure(
      [](auto* p) { stowplan_problem_add_buffer(p, INT64_MAX, 0, 4, 1, nullptr, nullptr); });
}

TEST(CPack, OptionsThatMakeNoSense) {
  const Problem problem(stowplan_problem_new());
  Add(problem, 8, 0, 4);
  const Options options(stowplan_solve_options_new());
  stowplan_solve_options_set_threads(options.get(), 0);
  EXPECT_THAT(stowplan_messages_text(MustFail(problem, options).get()), HasSubstr("threads"));
}

TEST(CPack, NullIsMisuse) {
  const Problem problem(stowplan_problem_new());
  stowplan_answer* answer = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_solve(nullptr, nullptr, &answer, &errors), STOWPLAN_MISUSE);
  EXPECT_THAT(stowplan_messages_text(errors), HasSubstr("stowplan_solve"));
  stowplan_messages_free(errors);
  EXPECT_EQ(stowplan_solve(problem.get(), nullptr, nullptr, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_problem_add_buffer(nullptr, 1, 0, 1, 1, nullptr, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_problem_pin(nullptr, 0, 0), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_problem_alias(problem.get(), nullptr, 2), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_problem_choose_pools(problem.get(), 0, nullptr, 2), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_problem_add_pool(problem.get(), nullptr, 2, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_solve_options_set_threads(nullptr, 2), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_answer_count(nullptr), 0U);
  EXPECT_EQ(stowplan_answer_offsets(nullptr), nullptr);
  EXPECT_EQ(stowplan_answer_get_status(nullptr), STOWPLAN_UNDECIDED);
  EXPECT_STREQ(stowplan_messages_text(nullptr), "");
  EXPECT_EQ(stowplan_messages_count(nullptr), 0U);
  stowplan_problem_free(nullptr);
  stowplan_solve_options_free(nullptr);
  stowplan_answer_free(nullptr);
  stowplan_messages_free(nullptr);
  stowplan_free(nullptr);
}

// Callers that were compiled against an older or newer header.
TEST(CPack, StructsGrow) {
  const Problem problem(stowplan_problem_new());
  Add(problem, -1, 0, 4);
  const Messages errors = MustFail(problem);
  stowplan_message older;
  std::memset(&older, 0x55, sizeof(older));
  older.size = offsetof(stowplan_message, file);
  ASSERT_EQ(stowplan_messages_get(errors.get(), 0, &older), STOWPLAN_OK);
  EXPECT_EQ(older.line, 0U);
  uintptr_t untouched = 0;
  std::memcpy(&untouched, &older.file, sizeof(untouched));
  EXPECT_EQ(untouched, static_cast<uintptr_t>(0x5555555555555555U));

  struct Newer {
    stowplan_message known;
    int64_t unknown;
  } newer = {{}, 77};
  newer.known.size = sizeof(newer);
  ASSERT_EQ(stowplan_messages_get(errors.get(), 0, &newer.known), STOWPLAN_OK);
  EXPECT_EQ(newer.known.size, sizeof(newer));
  EXPECT_EQ(newer.unknown, 0);

  stowplan_message unset = {};
  EXPECT_EQ(stowplan_messages_get(errors.get(), 0, &unset), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_messages_get(errors.get(), 0, nullptr), STOWPLAN_MISUSE);
}

}  // namespace
