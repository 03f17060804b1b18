// SPDX-License-Identifier: Apache-2.0
#include "view/thumbnail.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace stowplan::view {
namespace {

using explain::Curve;
using explain::Step;
using ::testing::ElementsAre;

Curve CurveOf(std::vector<Step> steps) {
  return {.space = {}, .steps = std::move(steps), .peak = {}};
}

int64_t LevelAt(const std::vector<Step>& steps, int64_t time) {
  int64_t level = 0;
  for (const Step& step : steps) {
    if (step.time <= time) level = step.bytes;
  }
  return level;
}

TEST(Thumbnail, ShortCurvesStayAsTheyAre) {
  const Curve curve = CurveOf({{0, 16}, {3, 64}, {9, 0}});
  EXPECT_EQ(Thumbnail(curve, 9, 3), curve.steps);
  EXPECT_TRUE(Thumbnail(CurveOf({}), 9, 3).empty());
}

TEST(Thumbnail, AStretchHasItsHighestLevel) {
  // Stretches of four moments: 0-3, 4-7, 8-10. The level at the end of one goes on in the next.
  const Curve curve = CurveOf({{1, 5}, {2, 90}, {3, 40}, {5, 30}, {8, 20}, {9, 25}, {10, 0}});
  EXPECT_THAT(Thumbnail(curve, 10, 3), ElementsAre(Step{0, 90}, Step{4, 40}, Step{8, 25}));
}

RC_GTEST_PROP(Thumbnail, IsTheMaximumOfEachStretch, ()) {
  const auto end = *rc::gen::inRange<int64_t>(0, 400);
  const auto most = *rc::gen::inRange<int64_t>(1, 40);
  std::vector<Step> steps;
  for (int64_t time = 0; time <= end; ++time) {
    const auto bytes = *rc::gen::inRange<int64_t>(0, 1000);
    if (*rc::gen::inRange(0, 3) != 0 && bytes != LevelAt(steps, time))
      steps.push_back({time, bytes});
  }
  const std::vector<Step> small = Thumbnail(CurveOf(steps), end, static_cast<size_t>(most));
  RC_ASSERT(small.size() <= static_cast<size_t>(most));
  if (std::ssize(steps) <= most) {
    RC_ASSERT(small == steps);
    return;
  }
  const int64_t length = end / most + 1;
  for (int64_t time = 0; time <= end; ++time) {
    int64_t highest = 0;
    const int64_t begin = time / length * length;
    for (int64_t t = begin; t < std::min(begin + length, end + 1); ++t)
      highest = std::max(highest, LevelAt(steps, t));
    RC_ASSERT(LevelAt(small, time) == highest);
  }
}

}  // namespace
}  // namespace stowplan::view
