// SPDX-License-Identifier: Apache-2.0
// The packers of temporaries, against plain ones that look at everything.
#include "assign/heap.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assign/byte_ranges.h"

namespace stowplan {
namespace {

using testing::ElementsAre;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

TEST(ByteRanges, EqualASetOfBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    ByteRanges ranges;
    std::vector<bool> bytes(40, false);
    for (int k = 0; k < 12; ++k) {
      const auto begin = static_cast<int64_t>(random() % 39);
      const int64_t end =
          begin + 1 +
          static_cast<int64_t>(random() % std::min<size_t>(8, 40 - static_cast<size_t>(begin)));
      ranges.Add({begin, end});
      for (int64_t b = begin; b < end; ++b) bytes[static_cast<size_t>(b)] = true;
      std::vector<std::pair<int64_t, int64_t>> expected;
      for (int64_t b = 0; b < 40; ++b) {
        if (!bytes[static_cast<size_t>(b)]) continue;
        if (expected.empty() || expected.back().second != b) expected.emplace_back(b, b);
        expected.back().second = b + 1;
      }
      std::vector<std::pair<int64_t, int64_t>> found;
      for (const ByteRange& range : ranges.ranges()) found.emplace_back(range.begin, range.end);
      ASSERT_EQ(found, expected) << "round " << round;
    }
  }
}

int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

HeapGroup Group(uint32_t value, int64_t size, std::vector<HeapInterval> intervals) {
  return {.first = ValueId(value),
          .first_size = size,
          .size = size,
          .intervals = std::move(intervals),
          .values = {ValueId(value)}};
}

// As std::shuffle, but the same with every library.
template <class T>
void Shuffle(std::vector<T>& items, std::mt19937& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

// Groups with one to three intervals each, apart from each other; no two events at one time.
HeapInput RandomInput(std::mt19937& random, size_t most = 24) {
  HeapInput input;
  const size_t count = 1 + random() % most;
  std::vector<size_t> parts(count);
  size_t events = 0;
  for (size_t& part : parts) {
    part = random() % 4 == 0 ? 2 + random() % 2 : 1;
    events += 2 * part;
  }
  std::vector<int64_t> times(events);
  for (size_t t = 0; t < events; ++t) times[t] = static_cast<int64_t>(t);
  Shuffle(times, random);
  size_t next = 0;
  std::vector<uint32_t> ids(count);
  for (uint32_t g = 0; g < count; ++g) ids[g] = g;
  Shuffle(ids, random);
  for (size_t g = 0; g < count; ++g) {
    std::vector<int64_t> own(times.begin() + static_cast<std::ptrdiff_t>(next),
                             times.begin() + static_cast<std::ptrdiff_t>(next + 2 * parts[g]));
    next += 2 * parts[g];
    std::ranges::sort(own);
    std::vector<HeapInterval> intervals;
    for (size_t k = 0; k < own.size(); k += 2) intervals.push_back({own[k], own[k + 1]});
    HeapGroup group = Group(ids[g], 1 + static_cast<int64_t>(random() % 9), intervals);
    if (random() % 5 == 0) group.size += static_cast<int64_t>(random() % 4);
    input.groups.push_back(std::move(group));
  }
  input.end = static_cast<int64_t>(events);
  return input;
}

bool AreTogether(const HeapGroup& a, const HeapGroup& b) {
  return std::ranges::any_of(a.intervals, [&](const HeapInterval& x) {
    return std::ranges::any_of(
        b.intervals, [&](const HeapInterval& y) { return x.start <= y.end && y.start <= x.end; });
  });
}

std::vector<int64_t> OffsetsOf(const HeapPlan& plan) {
  std::vector<int64_t> offsets;
  for (const HeapPlan::Spot& spot : plan.spots) offsets.push_back(spot.offset);
  return offsets;
}

// The rule as it is written down: gaps between the chunks of all that are alive with the group, in
// one heap after the other.
HeapPlan PlainBestFit(const HeapInput& input, std::vector<uint32_t> order, int64_t alignment,
                      int64_t limit) {
  HeapPlan plan;
  plan.spots.resize(input.groups.size());
  while (plan.sizes.empty() || !order.empty()) {
    const auto heap = static_cast<uint32_t>(plan.sizes.size());
    plan.sizes.push_back(0);
    std::vector<uint32_t> here;
    std::vector<uint32_t> left;
    for (const uint32_t g : order) {
      std::vector<std::pair<int64_t, int64_t>> used;
      for (const uint32_t other : here) {
        if (AreTogether(input.groups[g], input.groups[other]))
          used.emplace_back(plan.spots[other].offset,
                            plan.spots[other].offset + input.groups[other].size);
      }
      std::ranges::sort(used);
      int64_t cursor = 0;
      std::tuple best(kUnlimited, kUnlimited);  // size of the gap, begin
      for (const auto& [begin, end] : used) {
        if (begin > cursor && begin - cursor >= input.groups[g].size)
          best = std::min(best, std::tuple(begin - cursor, cursor));
        cursor = std::max(cursor, RoundUp(end, alignment));
      }
      const int64_t offset = std::get<1>(best) == kUnlimited ? cursor : std::get<1>(best);
      if (offset + input.groups[g].size > limit && plan.sizes[heap] != 0) {
        left.push_back(g);
        continue;
      }
      here.push_back(g);
      plan.spots[g] = {heap, offset};
      plan.sizes[heap] = std::max(plan.sizes[heap], offset + input.groups[g].size);
    }
    order = left;
  }
  return plan;
}

HeapPlan PlainBest(const HeapInput& input, int64_t alignment, int64_t limit,
                   const std::vector<uint8_t>& is_placed) {
  std::vector<uint32_t> order;
  for (uint32_t g = 0; g < input.groups.size(); ++g) {
    if (is_placed[g] == 0) order.push_back(g);
  }
  std::ranges::sort(order, {}, [&](uint32_t g) {
    const HeapGroup& group = input.groups[g];
    return std::tuple(-group.first_size, group.intervals[0].start - group.intervals[0].end,
                      group.first);
  });
  const HeapPlan spatial = PlainBestFit(input, order, alignment, limit);
  std::ranges::sort(order, {}, [&](uint32_t g) {
    const HeapGroup& group = input.groups[g];
    return std::tuple(group.intervals.front().start - group.intervals.back().end, -group.first_size,
                      group.first);
  });
  const HeapPlan temporal = PlainBestFit(input, order, alignment, limit);
  return temporal.total() < spatial.total() ? temporal : spatial;
}

// At each time: the groups that have an interval there, each once, as large as its first value.
TEST(Heap, ThePeakIsThatOfAllTimes) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const HeapInput input = RandomInput(random);
    int64_t peak = 0;
    for (int64_t time = 0; time < input.end; ++time) {
      int64_t bytes = 0;
      for (const HeapGroup& group : input.groups) {
        const bool is_alive = std::ranges::any_of(group.intervals, [&](const HeapInterval& part) {
          return part.start <= time && time < part.end;
        });
        if (is_alive) bytes += group.first_size;
      }
      peak = std::max(peak, bytes);
    }
    EXPECT_EQ(PeakOf(input), peak) << seed;
  }
}

TEST(BestFit, EqualsThePlainRule) {
  std::mt19937 random(2);
  int by_length = 0;
  int many = 0;
  for (int round = 0; round < 3000; ++round) {
    const HeapInput input = RandomInput(random);
    const int64_t alignment = std::array{1, 2, 4, 8}[random() % 4];
    const int64_t limit = random() % 3 == 0 ? 12 : kUnlimited;
    std::vector<uint8_t> is_placed(input.groups.size(), 0);
    if (random() % 3 == 0) is_placed[random() % is_placed.size()] = 1;
    const HeapPlan plan = PackBestFit(input, alignment, limit, is_placed);
    const HeapPlan plain = PlainBest(input, alignment, limit, is_placed);
    ASSERT_EQ(plan.sizes, plain.sizes) << "round " << round;
    ASSERT_EQ(plan.spots, plain.spots) << "round " << round;
    for (const HeapPlan::Spot& spot : plan.spots) ASSERT_EQ(spot.offset % alignment, 0);
    many += plan.sizes.size() > 1 ? 1 : 0;
    by_length += limit == kUnlimited ? 1 : 0;
  }
  EXPECT_EQ(by_length, 1952);
  EXPECT_EQ(many, 919);
}

// Most live for a short time, and blocks of time are many.
TEST(BestFit, EqualsThePlainRuleOnManyGroups) {
  std::mt19937 random(4);
  for (int round = 0; round < 2; ++round) {
    HeapInput input = RandomInput(random, 100);
    const int64_t count = 2000;
    for (int64_t g = 0; g < count; ++g) {
      // Ends of several groups may fall together; begins and ends do not.
      const int64_t length = random() % 10 == 0 ? static_cast<int64_t>(random() % 1000) : 6;
      const int64_t start = input.end + 4 * g;
      const int64_t end = std::min(start + 4 * length, input.end + 4 * count - 4) + 2;
      input.groups.push_back(Group(static_cast<uint32_t>(input.groups.size()),
                                   1 + static_cast<int64_t>(random() % 30), {{start, end}}));
    }
    input.end += 4 * count;
    const std::vector<uint8_t> none(input.groups.size(), 0);
    const HeapPlan plan = PackBestFit(input, 2, kUnlimited, none);
    const HeapPlan plain = PlainBest(input, 2, kUnlimited, none);
    ASSERT_EQ(plan.sizes, plain.sizes) << "round " << round;
    ASSERT_EQ(plan.spots, plain.spots) << "round " << round;
  }
}

TEST(BestFit, TakesTheSmallestGapAndTheLowestOfEquals) {
  // At time 0, three large ones lie at 0, 64 and 128; the middle one ends first.
  HeapInput input;
  input.groups = {Group(0, 100, {{0, 9}}), Group(1, 90, {{1, 4}}), Group(2, 80, {{2, 8}}),
                  Group(3, 30, {{5, 6}})};
  input.end = 10;
  const std::vector<uint8_t> none(4, 0);
  const HeapPlan plan = PackBestFit(input, 64, kUnlimited, none);
  EXPECT_THAT(OffsetsOf(plan), ElementsAre(0, 128, 256, 128));
  EXPECT_THAT(plan.sizes, ElementsAre(336));  // not rounded up
}

// The time sweep over a list of free ranges.
HeapPlan PlainTimeSweep(const HeapInput& input, int64_t alignment, int64_t limit) {
  HeapPlan plan;
  plan.spots.resize(input.groups.size());
  std::vector<uint32_t> order;
  for (uint32_t g = 0; g < input.groups.size(); ++g) order.push_back(g);
  std::ranges::sort(order, {}, [&](uint32_t g) {
    return std::tuple(input.groups[g].intervals.front().start, -input.groups[g].first_size,
                      input.groups[g].first);
  });
  struct Busy {
    int64_t release, begin, end;
  };
  while (plan.sizes.empty() || !order.empty()) {
    const auto heap = static_cast<uint32_t>(plan.sizes.size());
    plan.sizes.push_back(0);
    std::vector<uint32_t> left;
    std::vector<Busy> busy;
    for (const uint32_t g : order) {
      const int64_t start = input.groups[g].intervals.front().start;
      std::erase_if(busy, [&](const Busy& row) { return row.release <= start; });
      std::ranges::sort(busy, {}, &Busy::begin);
      // Free ranges are what the busy ones leave.
      std::tuple best(kUnlimited, int64_t{0}, int64_t{0});  // room, begin, offset
      bool is_found = false;
      int64_t cursor = 0;
      const auto offer = [&](int64_t begin, int64_t end) {
        const int64_t room = end - RoundUp(begin, alignment);
        if (begin >= end || room < input.groups[g].size) return;
        if (!is_found || room < std::get<0>(best)) best = {room, begin, RoundUp(begin, alignment)};
        is_found = true;
      };
      for (const Busy& row : busy) {
        offer(cursor, row.begin);
        cursor = row.end;
      }
      offer(cursor, kUnlimited);
      const int64_t offset = std::get<2>(best);
      const int64_t end = offset + input.groups[g].size;
      if (end > limit && plan.sizes[heap] != 0) {
        left.push_back(g);
        continue;
      }
      plan.spots[g] = {heap, offset};
      plan.sizes[heap] = std::max(plan.sizes[heap], end);
      busy.push_back({input.groups[g].intervals.back().end, std::get<1>(best), end});
    }
    order = left;
  }
  return plan;
}

TEST(TimeSweep, EqualsThePlainRule) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    const HeapInput input = RandomInput(random);
    const int64_t alignment = std::array{1, 2, 4, 8}[random() % 4];
    const int64_t limit = random() % 3 == 0 ? 12 : kUnlimited;
    const std::vector<uint8_t> none(input.groups.size(), 0);
    const HeapPlan plan = PackTimeSweep(input, alignment, limit, none);
    const HeapPlan plain = PlainTimeSweep(input, alignment, limit);
    ASSERT_EQ(plan.spots, plain.spots) << "round " << round;
    ASSERT_EQ(plan.sizes, plain.sizes) << "round " << round;
  }
}

TEST(TimeSweep, SlackBeforeAnAlignedPlaceIsTakenToo) {
  // The second lies at 8, behind slack from 5 on; when both are gone, all is one hole again.
  HeapInput input;
  input.groups = {Group(0, 5, {{0, 2}}), Group(1, 5, {{1, 3}}), Group(2, 13, {{4, 5}})};
  input.end = 6;
  const std::vector<uint8_t> none(3, 0);
  EXPECT_THAT(OffsetsOf(PackTimeSweep(input, 8, kUnlimited, none)), ElementsAre(0, 8, 0));
}

}  // namespace
}  // namespace stowplan
