// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/blocks.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/solve/reduce.h"
#include "stowplan/pack.h"
#include "unit/pack/must_solve.h"

namespace stowplan::pack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Slots are moments at which something begins: one byte at each keeps times as they are.
Core CoreOf(std::vector<Buffer> buffers) { return Reduce({.buffers = std::move(buffers)}).core; }

TEST(PackBlocks, WhatLivesAlikeIsStacked) {
  const Core core = CoreOf({{4, 0, 2}, {6, 0, 2}});
  const Blocks blocks = MakeBlocks(core, 0);
  ASSERT_EQ(blocks.core.items.size(), 1U);
  EXPECT_EQ(blocks.core.items[0].size, core.items[0].size + core.items[1].size);
  const std::vector<int64_t> offsets = OffsetsOfItems(blocks, 2, std::vector<int64_t>{7});
  EXPECT_EQ(std::ranges::min(offsets), 7);
  EXPECT_EQ(std::ranges::max(offsets), 7 + core.items[offsets[0] == 7 ? 0 : 1].size);
}

TEST(PackBlocks, WhatIsAsLargeGoesBehind) {
  const Core core = CoreOf({{4, 0, 2}, {4, 2, 5}});
  const Blocks blocks = MakeBlocks(core, 0);
  ASSERT_EQ(blocks.core.items.size(), 1U);
  EXPECT_EQ(blocks.core.items[0].size, core.items[0].size);
  EXPECT_THAT(OffsetsOfItems(blocks, 2, std::vector<int64_t>{3}), ElementsAre(3, 3));
}

TEST(PackBlocks, OthersStayApart) {
  EXPECT_EQ(MakeBlocks(CoreOf({{4, 0, 2}, {5, 2, 5}}), 0).core.items.size(), 2U);  // sizes
  EXPECT_EQ(MakeBlocks(CoreOf({{4, 0, 2}, {4, 3, 5}, {1, 2, 3}}), 0).core.items.size(),
            3U);  // times
}

// 1 fits behind 0 and before 2; only the first lets a block go onto 3.
TEST(PackBlocks, LooksAheadWhereThereIsAChoice) {
  const Blocks blocks = MakeBlocks(CoreOf({{4, 0, 2}, {4, 2, 4}, {4, 4, 5}, {3, 0, 4}}), 0);
  ASSERT_EQ(blocks.core.items.size(), 2U);
  EXPECT_EQ(std::ranges::max(blocks.core.items, {}, &Item::size).size, 7);
}

TEST(PackBlocks, NeedWholeItemsThatMayMoveAndAreAlignedAlike) {
  EXPECT_TRUE(CanMakeBlocks(CoreOf({{4, 0, 2}, {4, 2, 5}})));
  EXPECT_TRUE(CanMakeBlocks(CoreOf({{.size = 4, .start = 0, .end = 2, .alignment = 8},
                                    {.size = 5, .start = 2, .end = 5, .alignment = 8}})));
  EXPECT_FALSE(CanMakeBlocks(CoreOf({{.size = 4, .start = 0, .end = 2, .alignment = 8},
                                     {.size = 5, .start = 1, .end = 5, .alignment = 2}})));
  const Problem pinned = {.buffers = {{4, 0, 2}, {4, 1, 5}}, .pins = {{.buffer = 0, .offset = 8}}};
  EXPECT_FALSE(CanMakeBlocks(Reduce(pinned).core));
}

// A rectangle cut in two, its parts cut in two, and so on.
Problem Dissect(size_t count, uint32_t seed) {
  std::mt19937 chance(seed);
  struct Rectangle {
    int64_t start, end, size;
  };
  std::vector<Rectangle> parts = {{0, 1 << 20, 1 << 20}};
  while (parts.size() < count) {
    auto largest = std::ranges::max_element(
        parts, {}, [](const Rectangle& part) { return (part.end - part.start) * part.size; });
    Rectangle second = *largest;
    const auto cut = [&](int64_t from, int64_t to) {
      return from + 1 + static_cast<int64_t>(chance() % static_cast<uint64_t>(to - from - 1));
    };
    if (chance() % 2 == 0) {
      second.start = largest->end = cut(largest->start, largest->end);
    } else {
      largest->size = cut(0, second.size);
      second.size -= largest->size;
    }
    parts.push_back(second);
  }
  std::ranges::shuffle(parts, chance);
  Problem problem;
  for (const Rectangle& part : parts)
    problem.buffers.push_back({.size = part.size, .start = part.start, .end = part.end});
  return problem;
}

TEST(PackBlocks, PutTogetherWhatWasCut) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const Problem problem = Dissect(500, seed);
    const Answer answer = MustSolve(problem, {.solver = "blocks", .effort = 2'000'000});
    EXPECT_EQ(answer.status, Status::kOptimal) << seed;
    EXPECT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
  }
}

// Few sizes and times, so that much fits; whichever way, plans are plans.
TEST(PackBlocks, ArePlansOfTheirItems) {
  std::mt19937 chance(1);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(chance() % static_cast<uint64_t>(n));
  };
  for (uint64_t round = 1; round <= 500; ++round) {
    const int64_t alignment = 1 + below(3);
    Problem problem;
    for (int64_t b = below(60); b != 0; --b) {
      const int64_t start = below(20);
      problem.buffers.push_back({.size = 1 + below(4),
                                 .start = start,
                                 .end = start + 1 + below(10),
                                 .alignment = alignment});
    }
    const Answer answer = MustSolve(problem, {.seed = round, .solver = "blocks", .effort = 1000});
    ASSERT_THAT(CheckPlan(problem, answer.plan), IsEmpty());
  }
}

}  // namespace
}  // namespace stowplan::pack
