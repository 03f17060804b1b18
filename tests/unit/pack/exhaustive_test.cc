// SPDX-License-Identifier: Apache-2.0
// All problems with at most five buffers, four moments and sizes up to three, up to the order of
// the buffers: as good as brute force. A sample of them in the short tests.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/csv.h"
#include "stowplan/pack.h"
#include "unit/pack/brute_force.h"
#include "unit/pack/must_solve.h"

#ifndef STOWPLAN_SAMPLE
#define STOWPLAN_SAMPLE 7  // one in so many, a prime
#endif

namespace stowplan::pack {
namespace {

constexpr int64_t kMoments = 4;
constexpr int64_t kSizes = 3;
constexpr size_t kMostBuffers = 5;

std::vector<Buffer> AllKinds() {
  std::vector<Buffer> kinds;
  for (int64_t start = 0; start < kMoments; ++start)
    for (int64_t end = start + 1; end <= kMoments; ++end)
      for (int64_t size = 1; size <= kSizes; ++size)
        kinds.push_back({.size = size, .start = start, .end = end});
  return kinds;
}

class Exhaustive {
 public:
  // Adds buffers from that kind on.
  void Try(size_t kind) {
    if (++seen_ % STOWPLAN_SAMPLE == 0) Check();
    if (problem_.buffers.size() == kMostBuffers) return;
    for (size_t k = kind; k < kinds_.size() && !testing::Test::HasFatalFailure(); ++k) {
      problem_.buffers.push_back(kinds_[k]);
      Try(k);
      problem_.buffers.pop_back();
    }
  }

  [[nodiscard]] int64_t seen() const { return seen_; }

 private:
  void Check() {
    const Answer answer = MustSolve(problem_, {});
    Table table;
    table.problem = problem_;
    ASSERT_THAT(CheckPlan(problem_, answer.plan), testing::IsEmpty());
    ASSERT_EQ(answer.plan.height, LeastHeight(problem_)) << WriteTable(table, answer.plan);
    ASSERT_EQ(answer.status, Status::kOptimal) << WriteTable(table, answer.plan);
    ASSERT_EQ(answer.bound, answer.plan.height);
  }

  std::vector<Buffer> kinds_ = AllKinds();
  Problem problem_;
  int64_t seen_ = 0;
};

TEST(PackExhaustive, EqualsBruteForce) {
  Exhaustive all;
  all.Try(0);
  // Multisets of up to five of thirty kinds.
  if (!testing::Test::HasFatalFailure()) {
    EXPECT_EQ(all.seen(), 324632);
  }
}

}  // namespace
}  // namespace stowplan::pack
