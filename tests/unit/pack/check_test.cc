// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pack/problem/loads.h"
#include "stowplan/pack.h"
#include "unit/pack/random_problem.h"

namespace stowplan::pack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kTimes = 6;

// Whether the buffer needs its byte at that time, by the definition.
bool Needs(const Problem& problem, uint32_t b, int64_t time, int64_t byte) {
  const Buffer& buffer = problem.buffers[b];
  if (time < buffer.start || time >= buffer.end || byte < 0 || byte >= buffer.size) return false;
  for (const Gap& gap : problem.gaps) {
    if (gap.buffer == b && gap.start <= time && time < gap.end)
      return gap.low <= byte && byte < gap.high;
  }
  return true;
}

bool AreInOneGroup(const Problem& problem, uint32_t a, uint32_t b) {
  return std::ranges::any_of(problem.groups, [&](const auto& group) {
    return std::ranges::find(group, a) != group.end() && std::ranges::find(group, b) != group.end();
  });
}

bool HasOverlap(const Problem& problem, const Plan& plan) {
  for (uint32_t a = 0; a < problem.buffers.size(); ++a) {
    for (uint32_t b = a + 1; b < problem.buffers.size(); ++b) {
      if (!plan.pools.empty() && plan.pools[a] != plan.pools[b]) continue;
      if (AreInOneGroup(problem, a, b)) continue;
      for (int64_t time = 0; time < kTimes; ++time) {
        for (int64_t byte = 0; byte < problem.buffers[a].size; ++byte) {
          if (Needs(problem, a, time, byte) &&
              Needs(problem, b, time, byte + plan.offsets[a] - plan.offsets[b]))
            return true;
        }
      }
    }
  }
  return false;
}

// The load of one moment: bytes of groups count once.
int64_t LoadAt(const Problem& problem, int64_t time) {
  int64_t load = 0;
  for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
    for (int64_t byte = 0; byte < problem.buffers[b].size; ++byte) {
      if (!Needs(problem, b, time, byte)) continue;
      bool is_counted = false;
      for (uint32_t a = 0; a < b && !is_counted; ++a)
        is_counted = AreInOneGroup(problem, a, b) && Needs(problem, a, time, byte);
      load += is_counted ? 0 : 1;
    }
  }
  return load;
}

TEST(PackCheck, AgreesWithTheDefinitionOnRandomPlans) {
  ProblemMaker maker(1);
  int sound = 0;
  for (int round = 0; round < 20000; ++round) {
    const Problem problem = maker.Make(1 + static_cast<size_t>(maker.Below(5)), kTimes, 4,
                                       {.gaps = true, .groups = true, .pools = round % 2 == 0});
    Plan plan;
    for (size_t b = 0; b < problem.buffers.size(); ++b) {
      plan.offsets.push_back(maker.Below(8));
      if (!problem.pools.empty())
        plan.pools.push_back(static_cast<uint32_t>(maker.Below(std::ssize(problem.pools))));
    }
    for (const auto& group : problem.groups) {
      for (const uint32_t member : group) {
        plan.offsets[member] = plan.offsets[group.front()];
        if (!plan.pools.empty()) plan.pools[member] = plan.pools[group.front()];
      }
    }
    bool is_found = false;
    for (const std::string& complaint : CheckPlan(problem, plan))
      is_found = is_found || complaint.find("share bytes") != std::string::npos;
    ASSERT_EQ(is_found, HasOverlap(problem, plan)) << "round " << round;
    sound += is_found ? 0 : 1;
    const LoadBound bound = FindLoadBound(problem);
    int64_t most = 0;
    for (int64_t time = 0; time < kTimes; ++time) most = std::max(most, LoadAt(problem, time));
    ASSERT_EQ(bound.bytes, most) << "round " << round;
    ASSERT_EQ(LoadAt(problem, bound.time), bound.bytes) << "round " << round;
  }
  EXPECT_GT(sound, 1000);
}

TEST(PackCheck, NamesWhatAPlanBreaks) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 2, 4}, {2, 0, 4}}};
  problem.pins = {{1, 8}};
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0, 4}, .height = 6}),
              ElementsAre("buffer 1 lies at 0, and is pinned to 8"));
  problem.pins.clear();
  problem.apart = {{0, 1}};
  Names names;
  for (const char* const name : {"a", "b", "c"}) names.Add(name);
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0, 4}, .height = 6}, names),
              ElementsAre("buffers `a` and `b` must be apart, and share byte 0"));
  problem.apart.clear();
  problem.groups = {{0, 1}};
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 6, 4}, .height = 10}),
              ElementsAre("buffers 0 and 1 of one group lie at 0 and 6"));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0, 4}, .height = 6}), IsEmpty());
}

TEST(PackCheck, LooksAtPools) {
  Problem problem = {.buffers = {{4, 0, 2}, {4, 0, 2}}};
  problem.pools = {{"fast", 4}, {"slow", 100}};
  problem.choices = {{1, {1}}};
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0}, .pools = {0, 1}, .height = 4}), IsEmpty());
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 4}, .pools = {1, 1}, .height = 8}), IsEmpty());
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0}, .pools = {1, 1}, .height = 4}),
              ElementsAre(HasSubstr("share bytes at time 0")));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {4, 0}, .pools = {0, 1}, .height = 4}),
              ElementsAre("buffer 0 ends at 8 in pool fast, which has 4"));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0}, .pools = {1, 0}, .height = 4}),
              ElementsAre("buffer 1 is in pool fast, where it may not be"));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0}, .pools = {0, 2}, .height = 4}),
              ElementsAre("buffer 1 is in pool 2 of 2"));
  EXPECT_THAT(CheckPlan(problem, {.offsets = {0, 0}, .pools = {}, .height = 4}),
              ElementsAre("the plan names 0 pools, where 2 are wanted"));
}

// The first mistake, with the buffer's or pool's number in front.
std::string MistakeIn(const Problem& problem) {
  const Diagnostics mistakes = CheckProblem(problem);
  return mistakes.empty() ? "none" : mistakes.front().message;
}

TEST(PackCheck, NamesWhatMakesNoSense) {
  const Problem sound = {.buffers = {{4, 0, 4, 2}, {4, 1, 5, 3}}};
  EXPECT_EQ(MistakeIn(sound), "none");
  const auto with = [&](auto change) {
    Problem problem = sound;
    change(problem);
    return MistakeIn(problem);
  };
  const auto with_gaps = [&](std::vector<Gap> gaps) {
    return with([&](Problem& problem) { problem.gaps = gaps; });
  };
  EXPECT_EQ(with_gaps({{0, 1, 3, 1, 2}, {0, 3, 4, 0, 0}}), "none");
  EXPECT_EQ(with_gaps({{2, 1, 3, 0, 0}}), "buffer 2: there is no such buffer");
  EXPECT_EQ(with_gaps({{0, 2, 2, 0, 0}}), "buffer 0: a gap ends before it begins");
  EXPECT_EQ(with_gaps({{0, 2, 5, 0, 0}}), "buffer 0: a gap is not within the buffer's life");
  EXPECT_EQ(with_gaps({{0, 2, 3, 0, 5}}),
            "buffer 0: what is in use in a gap is not within the buffer");
  EXPECT_EQ(with_gaps({{0, 2, 3, 3, 1}}),
            "buffer 0: what is in use in a gap is not within the buffer");
  EXPECT_EQ(with_gaps({{0, 1, 3, 0, 0}, {0, 2, 4, 0, 0}}),
            "buffer 0: two gaps overlap, or are not in the order of time");
  EXPECT_EQ(with_gaps({{1, 1, 3, 0, 0}, {0, 2, 4, 0, 0}}),
            "buffer 0: the gaps are not in the order of buffers");

  const auto with_pins = [&](std::vector<Spot> pins) {
    return with([&](Problem& problem) { problem.pins = pins; });
  };
  EXPECT_EQ(with_pins({{0, 2}, {1, 6}}), "none");
  EXPECT_EQ(with_pins({{9, 2}}), "buffer 9: there is no such buffer");
  EXPECT_EQ(with_pins({{0, -2}}), "buffer 0: the offset -2 is negative");
  EXPECT_EQ(with_pins({{0, 3}}), "buffer 0: 3 is no multiple of the alignment 2");
  EXPECT_EQ(with_pins({{0, INT64_MAX - 1}}), "buffer 0: the buffer would end beyond 64 bits");
  EXPECT_EQ(with_pins({{0, INT64_MAX - 5}}),
            "buffer 0: the sizes up to here do not fit in 64 bits together");
  EXPECT_EQ(with_pins({{0, 4}, {1, 3}}),
            "buffer 1: pinned to where buffer 0 is pinned, and both are alive at time 1");
  EXPECT_EQ(with_pins({{0, 4}, {0, 4}}), "buffer 0: the offsets are not in the order of buffers");

  const auto with_groups = [&](std::vector<std::vector<uint32_t>> groups,
                               std::vector<Spot> pins = {}) {
    return with([&](Problem& problem) {
      problem.groups = groups;
      problem.pins = pins;
    });
  };
  EXPECT_EQ(with_groups({{0, 1}}, {{0, 6}}), "none");
  EXPECT_EQ(with_groups({{0, 1}, {1}}), "buffer 1: the buffer is in two groups");
  EXPECT_EQ(with_groups({{0, 1}}, {{0, 6}, {1, 12}}),
            "buffer 1: pinned to 12, where another of its group is pinned to 6");
  EXPECT_EQ(with_groups({{0, 1}}, {{0, 2}}),
            "buffer 0: the group is pinned to 2, which is no multiple of its alignment 6");
  EXPECT_EQ(with([](Problem& problem) {
              problem.buffers[0].alignment = INT64_MAX / 4;
              problem.buffers[1].alignment = INT64_MAX / 4 - 1;
              problem.groups = {{0, 1}};
            }),
            "buffer 1: the group's alignments have no multiple in 64 bits");

  EXPECT_EQ(with([](Problem& problem) { problem.apart = {{0, 0}}; }),
            "buffer 0: a buffer cannot be apart from itself");
  EXPECT_EQ(with([](Problem& problem) {
              problem.apart = {{0, 1}};
              problem.groups = {{0, 1}};
            }),
            "buffer 0: two buffers of one group cannot be apart");

  const auto with_pools = [&](std::vector<Pool> pools, std::vector<PoolChoice> choices = {}) {
    return with([&](Problem& problem) {
      problem.pools = pools;
      problem.choices = choices;
    });
  };
  EXPECT_EQ(with_pools({{"a", 4}, {"b", 0}}, {{1, {1, 0}}}), "none");
  EXPECT_EQ(with_pools({{"a", 4}, {"a", 0}}), "pool 1: the pool `a` is there twice");
  EXPECT_EQ(with_pools({{"a", -4}}), "pool 0: the capacity -4 is negative");
  EXPECT_EQ(with_pools({{"", 4}}), "pool 0: a pool needs a name");
  EXPECT_EQ(with_pools({{"a", 4}}, {{1, {1}}}), "buffer 1: there is no pool 1");
  EXPECT_EQ(with_pools({{"a", 4}}, {{1, {0, 0}}}), "buffer 1: a pool is named twice");
  EXPECT_EQ(with_pools({{"a", 4}}, {{1, {}}}), "buffer 1: no pool is left");
  EXPECT_EQ(with([](Problem& problem) {
              problem.pools = {{"a", 4}, {"b", 4}};
              problem.groups = {{0, 1}};
              problem.choices = {{0, {0}}, {1, {1}}};
            }),
            "buffer 0: there is no pool in which all of the group may be");
}

TEST(PackCheck, PinsMayOverlapInDifferentPools) {
  Problem problem = {.buffers = {{4, 0, 4}, {4, 0, 4}}};
  problem.pools = {{"a", 4}, {"b", 4}};
  problem.pins = {{0, 0}, {1, 0}};
  EXPECT_EQ(MistakeIn(problem), "none");
  problem.choices = {{0, {1}}, {1, {1}}};
  EXPECT_EQ(MistakeIn(problem),
            "buffer 1: pinned to where buffer 0 is pinned, and both are alive at time 0");
}

}  // namespace
}  // namespace stowplan::pack
