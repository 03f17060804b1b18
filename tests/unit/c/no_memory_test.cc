// SPDX-License-Identifier: Apache-2.0
// Memory runs out at the first allocation, at the second, and so on: every function either does its
// work or says that there is no memory. Nothing crashes, leaks (under ASan) or throws.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "stowplan/stowplan_c.h"

namespace {

// How many allocations succeed before one fails; negative: all do. Those after it succeed again, as
// they would when others give memory back.
std::atomic<int64_t> left = -1;

void* Allocate(size_t size, size_t alignment) {
  if (left >= 0 && left-- == 0) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* MustAllocate(size_t size, size_t alignment) {
  void* memory = Allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The shared library's allocations come here too: a program may replace these for all of itself.
void* operator new(size_t size) { return MustAllocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return MustAllocate(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 1); }
void* operator new[](size_t size) { return MustAllocate(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 1); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace {

// True when `job` has gone through without a failure. `job` returns its first failed status.
template <class Job>
bool Survives(int64_t allocations, Job job) {
  left = allocations;
  const stowplan_status status = job();
  const bool has_failed = left < 0;
  left = -1;
  EXPECT_TRUE(status == STOWPLAN_OK || status == STOWPLAN_NO_MEMORY)
      << "status " << status << " after " << allocations << " allocations";
  // An allocation may fail without harm: std::stable_sort does without.
  return status == STOWPLAN_OK && !has_failed;
}

// Where the C++ library is linked into the shared library, that one keeps its own functions.
bool AreReplaced() {
  left = 0;
  stowplan_problem* problem = stowplan_problem_new();
  const bool has_failed = left < 0;
  left = -1;
  stowplan_problem_free(problem);
  return has_failed;
}

// Memory runs out at every `step`th allocation of a job, which has more than `least`.
template <class Job>
void ExpectSurvivesAll(int64_t least, int64_t step, Job job) {
  if (!AreReplaced()) GTEST_SKIP() << "the shared library allocates by itself";
  int64_t allocations = 0;
  while (!Survives(allocations, job) && !testing::Test::HasFailure()) allocations += step;
  EXPECT_GT(allocations, least);
}

stowplan_status PackOnce() {
  stowplan_problem* problem = stowplan_problem_new();
  if (problem == nullptr) return STOWPLAN_NO_MEMORY;
  stowplan_status status = STOWPLAN_OK;
  const uint32_t aliases[] = {0, 1};
  for (int64_t k = 0; k < 12 && status == STOWPLAN_OK; ++k)
    status =
        stowplan_problem_add_buffer(problem, 3 + k * k % 7, k % 5, k % 5 + 3, 1,
                                    "a name that is too long for the place in a string", nullptr);
  if (status == STOWPLAN_OK) status = stowplan_problem_alias(problem, aliases, 2);
  if (status == STOWPLAN_OK) status = stowplan_problem_add_gap(problem, 3, 4, 5, 0, 0);
  stowplan_answer* answer = nullptr;
  stowplan_messages* errors = nullptr;
  if (status == STOWPLAN_OK) {
    status = stowplan_solve(problem, nullptr, &answer, &errors);
    EXPECT_EQ(answer != nullptr, status == STOWPLAN_OK);
    EXPECT_EQ(errors != nullptr, status != STOWPLAN_OK);
    EXPECT_EQ(stowplan_messages_count(errors), status == STOWPLAN_OK ? 0U : 1U);
  }
  stowplan_messages_free(errors);
  stowplan_answer_free(answer);
  stowplan_problem_free(problem);
  return status;
}

// A problem that takes a search, by several threads.
stowplan_status SearchOnce() {
  stowplan_problem* problem = stowplan_problem_new();
  stowplan_solve_options* options = stowplan_solve_options_new();
  stowplan_status status =
      problem == nullptr || options == nullptr ? STOWPLAN_NO_MEMORY : STOWPLAN_OK;
  uint64_t state = 11;
  const auto below = [&](uint64_t limit) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((state >> 33U) % limit);
  };
  for (int k = 0; k < 40 && status == STOWPLAN_OK; ++k) {
    const int64_t start = below(20);
    const int64_t size = 1 + below(97);
    status = stowplan_problem_add_buffer(problem, size, start, start + 1 + below(8), 1, nullptr,
                                         nullptr);
  }
  stowplan_solve_options_set_threads(options, 3);
  stowplan_solve_options_set_effort(options, 2000);
  stowplan_answer* answer = nullptr;
  if (status == STOWPLAN_OK) status = stowplan_solve(problem, options, &answer, nullptr);
  stowplan_answer_free(answer);
  stowplan_solve_options_free(options);
  stowplan_problem_free(problem);
  return status;
}

stowplan_status PlanOnce() {
  static constexpr const char* kModule = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[64]{0} parameter(0)
  s = f32[64]{0} sine(p)
  c = f32[64]{0} cosine(s)
  ROOT r = f32[64]{0} add(s, c)
}
)";
  stowplan_plan_options* options = stowplan_plan_options_new();
  if (options == nullptr) return STOWPLAN_NO_MEMORY;
  stowplan_inputs* inputs = nullptr;
  stowplan_plan* plan = nullptr;
  stowplan_plan* best = nullptr;
  stowplan_messages* errors = nullptr;
  stowplan_reports* reports = nullptr;
  char* page = nullptr;
  stowplan_status status = stowplan_plan_options_set_target(options, "cpu");
  if (status == STOWPLAN_OK)
    status = stowplan_plan_options_set_policy(options, STOWPLAN_POLICY_BEST);
  if (status == STOWPLAN_OK)
    status = stowplan_inputs_open_bytes("m.hlo", kModule, std::strlen(kModule), &inputs, &errors);
  if (status == STOWPLAN_OK) status = stowplan_plan_load(inputs, options, &plan, &errors);
  if (status == STOWPLAN_OK) status = stowplan_plan_make(plan, options, &best, &errors);
  if (status == STOWPLAN_OK) status = stowplan_plan_reports(best, &reports, &errors);
  if (status == STOWPLAN_OK) status = stowplan_plan_json(best, &page, nullptr, &errors);
  if (status == STOWPLAN_OK) {
    EXPECT_EQ(errors, nullptr);
  }
  stowplan_messages_free(errors);
  stowplan_free(page);
  stowplan_reports_free(reports);
  stowplan_plan_free(best);
  stowplan_plan_free(plan);
  stowplan_inputs_free(inputs);
  stowplan_plan_options_free(options);
  return status;
}

TEST(CNoMemory, Packing) { ExpectSurvivesAll(50, 1, PackOnce); }

// An exception that left one of the threads would end the program.
TEST(CNoMemory, SearchingWithThreads) { ExpectSurvivesAll(100, 7, SearchOnce); }

TEST(CNoMemory, Planning) { ExpectSurvivesAll(500, 1, PlanOnce); }

TEST(CNoMemory, TheMessageNeedsNone) {
  if (!AreReplaced()) GTEST_SKIP() << "the shared library allocates by itself";
  stowplan_problem* problem = stowplan_problem_new();
  ASSERT_EQ(stowplan_problem_add_buffer(problem, 8, 0, 4, 1, nullptr, nullptr), STOWPLAN_OK);
  stowplan_answer* answer = nullptr;
  stowplan_messages* errors = nullptr;
  left = 0;
  const stowplan_status status = stowplan_solve(problem, nullptr, &answer, &errors);
  left = -1;
  EXPECT_EQ(status, STOWPLAN_NO_MEMORY);
  EXPECT_EQ(answer, nullptr);
  EXPECT_STREQ(stowplan_messages_text(errors), "stowplan: error: out of memory\n");
  stowplan_message message = {};
  message.size = sizeof(message);
  EXPECT_EQ(stowplan_messages_get(errors, 0, &message), STOWPLAN_OK);
  EXPECT_STREQ(message.text, "out of memory");
  stowplan_messages_free(errors);
  stowplan_problem_free(problem);
}

}  // namespace
