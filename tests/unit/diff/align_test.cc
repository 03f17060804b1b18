// SPDX-License-Identifier: Apache-2.0
#include "diff/align.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace stowplan::diff {
namespace {

using ::testing::ElementsAre;

int64_t Cost(const std::vector<int64_t>& few, const std::vector<int64_t>& many,
             const std::vector<size_t>& to) {
  int64_t cost = 0;
  for (size_t i = 0; i < few.size(); ++i) cost += std::abs(few[i] - many[to[i]]);
  return cost;
}

// All ways to choose, one after another.
int64_t Least(const std::vector<int64_t>& few, const std::vector<int64_t>& many) {
  int64_t least = INT64_MAX;
  for (uint32_t chosen = 0; chosen < 1U << many.size(); ++chosen) {
    std::vector<size_t> to;
    for (size_t i = 0; i < many.size(); ++i) {
      if ((chosen >> i & 1U) != 0) to.push_back(i);
    }
    if (to.size() == few.size()) least = std::min(least, Cost(few, many, to));
  }
  return least;
}

TEST(Align, LeavesOutWhatIsFar) {
  EXPECT_THAT(Align({10, 20}, {10, 15, 20}), ElementsAre(0, 2));
  EXPECT_THAT(Align({5}, {5, 5}), ElementsAre(0));
  EXPECT_THAT(Align({}, {1}), ElementsAre());
}

RC_GTEST_PROP(Align, IsTheBestOfAll, ()) {
  auto many = *rc::gen::container<std::vector<int64_t>>(*rc::gen::inRange<size_t>(1, 9),
                                                        rc::gen::inRange<int64_t>(0, 12));
  auto few = *rc::gen::container<std::vector<int64_t>>(*rc::gen::inRange<size_t>(0, many.size()),
                                                       rc::gen::inRange<int64_t>(0, 12));
  std::ranges::sort(many);
  std::ranges::sort(few);
  const std::vector<size_t> to = Align(few, many);
  RC_ASSERT(std::ranges::is_sorted(to, std::less_equal()));
  RC_ASSERT(Cost(few, many, to) == Least(few, many));
}

TEST(Align, LargeListsGoOneByOne) {
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 3000; ++i) many.push_back(i);
  std::vector<int64_t> few;
  for (int64_t i = 0; i < 1000; ++i) few.push_back(3 * i);
  const std::vector<size_t> to = Align(few, many);
  ASSERT_EQ(to.size(), few.size());
  EXPECT_EQ(Cost(few, many, to), 0);
  // Enough is left for all of them, wherever they are.
  const std::vector<size_t> last = Align(std::vector<int64_t>(1000, 5000), many);
  EXPECT_EQ(last.back(), 2999U);
  EXPECT_EQ(last.front(), 2000U);
}

}  // namespace
}  // namespace stowplan::diff
