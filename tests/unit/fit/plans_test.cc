// SPDX-License-Identifier: Apache-2.0
// Programs that are not compiled yet: what is computed inside of what, and plans for them.
#include "fit/plans.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fit/body_cut.h"
#include "fit/operations.h"

namespace stowplan::fit {
namespace {

using Numbers = std::vector<uint32_t>;

Operation Kernel(double cost, Numbers reads, Numbers makes) {
  return {.cost = cost, .reads = std::move(reads), .makes = std::move(makes)};
}
// Element by element.
Operation Light(Numbers reads, Numbers makes) {
  return {.cost = 1,
          .is_absorbed = true,
          .absorbs = true,
          .reads = std::move(reads),
          .makes = std::move(makes)};
}

// A forward pass of so many layers and its backward pass: layer i makes value 2 i + 1 by a kernel
// from value 2 i, and value 2 i + 2 from that; the backward pass reads both of each layer.
Operations Layers(uint32_t count) {
  Operations program;
  const auto add = [&](int64_t size) {
    program.sizes.push_back(size);
    program.is_result.push_back(0);
    return static_cast<uint32_t>(program.sizes.size() - 1);
  };
  uint32_t value = add(0);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t product = add(400);
    program.operations.push_back(Kernel(100, {value}, {product}));
    value = add(100);
    program.operations.push_back(Kernel(10, {product}, {value}));
  }
  uint32_t gradient = add(100);
  program.operations.push_back(Kernel(1, {value}, {gradient}));
  for (uint32_t i = count; i-- > 0;) {
    const uint32_t next = add(i == 0 ? 0 : 100);
    program.operations.push_back(Kernel(100, {2 * i, 2 * i + 1, gradient}, {next}));
    gradient = next;
  }
  program.is_result[gradient] = 1;
  return program;
}

TEST(OperationsTest, MistakesAreFound) {
  Operations program;
  program.sizes = {1, 1};
  program.is_result = {0, 1};
  program.operations = {Kernel(1, {0}, {1})};
  EXPECT_STREQ(FindMistake(program), "");
  program.operations = {Kernel(1, {2}, {1})};
  EXPECT_STRNE(FindMistake(program), "");
  program.operations = {Kernel(1, {}, {1}), Kernel(1, {}, {1})};
  EXPECT_STRNE(FindMistake(program), "");
  program.operations = {Kernel(1, {1}, {0}), Kernel(1, {}, {1})};
  EXPECT_STRNE(FindMistake(program), "");
}

TEST(OperationsTest, LightOperationsAreComputedInsideTheirReader) {
  Operations program;
  program.sizes = {0, 8, 8, 8, 8};
  program.is_result = {0, 0, 0, 0, 1};
  program.operations = {Kernel(5, {0}, {1}), Light({1}, {2}), Light({2}, {3}), Light({1, 3}, {4})};
  EXPECT_EQ(Cluster(program), (Clusters{{0}, {1, 2, 3}}));
  // With two readers, it lies in memory, unless it may be computed in both.
  program.operations[2].reads = {1, 2};
  program.operations[3].reads = {2, 3};
  EXPECT_EQ(Cluster(program), (Clusters{{0}, {1, 2, 3}}));  // both are in one cluster
  program.is_result[3] = 1;
  EXPECT_EQ(Cluster(program), (Clusters{{0}, {1}, {2}, {3}}));
  program.operations[1].is_spread = true;
  EXPECT_EQ(Cluster(program), (Clusters{{0}, {1, 2}, {1, 3}}));
}

TEST(OperationsTest, WhatIsInsideOccursOnceUnlessFar) {
  Operations program;
  program.sizes = {0, 8, 8, 8};
  program.is_result = {0, 0, 1, 1};
  program.operations = {Light({0}, {1}), Light({1}, {2}), Light({1}, {3})};
  program.operations[0].is_spread = true;
  const Clusters clusters = Cluster(program);
  ASSERT_EQ(clusters, (Clusters{{0, 1}, {0, 2}}));
  EXPECT_EQ(Spell(program, clusters, std::vector<Node>{0, 1}, 1), (Numbers{0, 1, 2}));
  EXPECT_EQ(Spell(program, clusters, std::vector<Node>{0, 1, 0}, 1), (Numbers{0, 1, 2, 0, 1}));
  // Much later, it occurs again if it is large enough.
  for (uint32_t i = 0; i < 60; ++i) {
    program.sizes.push_back(8);
    program.is_result.push_back(1);
    program.operations.push_back(Kernel(1, {0}, {4 + i}));
  }
  const Clusters more = Cluster(program);
  ASSERT_EQ(more.size(), 62U);
  std::vector<Node> late = {0};
  for (Node i = 2; i < 62; ++i) late.push_back(i);
  late.push_back(1);
  EXPECT_EQ(Spell(program, more, late, 8).size(), 64U);
  EXPECT_EQ(Spell(program, more, late, 9).size(), 63U);
}

TEST(PlansTest, LessMemoryForMoreWork) {
  const Operations program = Layers(8);
  const Task task = TaskOf(program, Cluster(program));
  const std::vector<Plan> plans = FindPlans(task, {.most_cost = WholeCost(task)});
  ASSERT_GT(plans.size(), 4U);
  EXPECT_EQ(plans[0].point.cost, 0);
  EXPECT_EQ(plans[0].point.sequence, GivenSequence(task));
  int64_t least = plans[0].point.peak;
  for (const Plan& plan : plans) {
    EXPECT_TRUE(IsPossible(task, plan.point.sequence));
    EXPECT_EQ(plan.point.peak, FindPeak(task, plan.point.sequence));
    EXPECT_DOUBLE_EQ(plan.point.cost, ExtraCost(task, plan.point.sequence));
    EXPECT_EQ(plan.is_on_front, &plan == plans.data() || plan.point.peak < least);
    least = std::min(least, plan.point.peak);
  }
  // All products but one are computed again: 8 values of 100, a product, a gradient.
  EXPECT_LE(least, 8 * 100 + 400 + 200);
  EXPECT_GE(plans[0].point.peak, 8 * 500);
}

TEST(PlansTest, WhatMayNotRunTwiceDoesNot) {
  Operations program = Layers(6);
  for (Operation& operation : program.operations) operation.can_repeat = false;
  const Task task = TaskOf(program, Cluster(program));
  EXPECT_EQ(FindPlans(task, {.most_cost = WholeCost(task)}).size(), 1U);
}

TEST(BodyCutTest, CheapValuesFirst) {
  // A carry of 100 becomes a product of 400, of which two cheap values are needed.
  Operations body;
  body.sizes = {100, 400, 400, 400, 100};
  body.is_result = {0, 0, 0, 0, 1};
  body.operations = {Kernel(1000, {0}, {1}), Kernel(4, {1}, {2}), Kernel(4, {1}, {3}),
                     Kernel(4, {2, 3}, {4})};
  const Numbers needed = {1, 2, 3};
  const std::vector<Numbers> cuts = CutBody(body, needed);
  ASSERT_GE(cuts.size(), 2U);
  EXPECT_EQ(cuts.front(), (Numbers{1, 2}));
  EXPECT_EQ(cuts.back(), (Numbers{0, 1, 2}));
}

TEST(BodyCutTest, NothingIsNeeded) {
  Operations body;
  body.sizes = {100, 400};
  body.is_result = {0, 1};
  body.operations = {Kernel(1000, {0}, {1})};
  EXPECT_TRUE(CutBody(body, {}).empty());
}

}  // namespace
}  // namespace stowplan::fit
