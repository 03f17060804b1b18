// SPDX-License-Identifier: Apache-2.0
#include "report/peak.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "report/covered_bytes.h"
#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

using ::testing::ElementsAre;

Report Seed(int number) {
  const std::string path = std::string(STOWPLAN_TESTS_DIR) + "/../examples/seeds/seed_00" +
                           std::to_string(number) + ".txt";
  Result<std::shared_ptr<const Source>> source = ReadSource(path);
  if (!source) {
    ADD_FAILURE() << Render(source.error());
    return {};
  }
  const std::vector<std::shared_ptr<const Source>> sources = {*std::move(source)};
  Result<Report> report = ReadReport(sources);
  if (report) return *std::move(report);
  ADD_FAILURE() << Render(report.error());
  return {};
}

TruePeak PeakOf(const Report& report) {
  Result<TruePeak> peak = ComputeTruePeak(report);
  if (peak) return *std::move(peak);
  ADD_FAILURE() << Render(peak.error());
  return {};
}

int64_t LiveAt(const Report& report, int64_t time) {
  int64_t sum = 0;
  for (const LiveValue& live : LiveValuesAt(report, time)) sum += live.bytes;
  return sum;
}

// A report by hand: allocations by color, values by place and time.
class Builder {
 public:
  Builder() {
    report.has_assignment = true;
    report.live_ranges.emplace();
  }
  AllocationId AddAllocation(int64_t color = 0, bool is_thread_local = false) {
    Allocation allocation;
    allocation.number = static_cast<int64_t>(report.allocations.size());
    allocation.color = color;
    allocation.is_thread_local = is_thread_local;
    return report.allocations.Add(allocation);
  }
  ValueId AddValue(AllocationId allocation, ByteRange bytes, int64_t start, int64_t end) {
    Value value;
    value.allocation = allocation;
    value.offset = bytes.begin;
    value.size = bytes.end - bytes.begin;
    value.has_range = true;
    value.start = start;
    value.end = end;
    Allocation& own = report.allocations[allocation];
    own.size = std::max(own.size, bytes.end);
    const ValueId id = report.values.Add(value);
    own.values.push_back(id);
    report.live_ranges->values.push_back(id);
    return id;
  }
  Report report;
};

TEST(CoveredBytes, CountsEachByteOnce) {
  CoveredBytes bytes(std::vector<ByteRange>{{0, 10}, {5, 15}, {5, 15}, {20, 20}, {12, 13}});
  EXPECT_EQ(bytes.covered(), 0);
  bytes.Add(0);
  EXPECT_EQ(bytes.covered(), 10);
  bytes.Add(1);
  bytes.Add(2);
  EXPECT_EQ(bytes.covered(), 15);
  bytes.Remove(1);
  bytes.Add(3);  // no bytes at all
  bytes.Add(4);
  EXPECT_EQ(bytes.covered(), 15);
  bytes.Remove(2);
  EXPECT_EQ(bytes.covered(), 11);
  bytes.Remove(0);
  bytes.Remove(4);
  EXPECT_EQ(bytes.covered(), 0);
}

TEST(CoveredBytes, OfNothing) {
  CoveredBytes none({});
  EXPECT_EQ(none.covered(), 0);
  CoveredBytes empty(std::vector<ByteRange>{{7, 7}, {7, 7}});
  empty.Add(0);
  empty.Remove(0);
  EXPECT_EQ(empty.covered(), 0);
}

// Ranges of bytes, added and removed in any order.
void CompareWithASetOfBytes(std::mt19937& random, int64_t count, int64_t begins, int64_t sizes) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random()) % n; };
  std::vector<ByteRange> ranges;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = below(begins);
    ranges.push_back({begin, begin + below(sizes)});
  }
  CoveredBytes covered(ranges);
  std::multiset<size_t> added;
  for (int step = 0; step < 100; ++step) {
    const auto range = static_cast<size_t>(below(count));
    if (added.contains(range) && below(2) == 0) {
      added.erase(added.find(range));
      covered.Remove(range);
    } else {
      added.insert(range);
      covered.Add(range);
    }
    std::set<int64_t> bytes;
    for (const size_t i : added) {
      for (int64_t byte = ranges[i].begin; byte < ranges[i].end; ++byte) bytes.insert(byte);
    }
    ASSERT_EQ(covered.covered(), static_cast<int64_t>(bytes.size()));
  }
}

TEST(CoveredBytes, AgreesWithASetOfBytes) {
  std::mt19937 random(1);
  for (int64_t count = 1; count <= 30; ++count) CompareWithASetOfBytes(random, count, 60, 20);
}

// Each is cut into more than 64 pieces: a tree is used.
TEST(CoveredBytes, AgreesWithASetOfBytesWhereManyOverlap) {
  std::mt19937 random(2);
  for (const int64_t count : {300, 301, 511, 600}) CompareWithASetOfBytes(random, count, 500, 900);
}

// The picture in peak.h.
TEST(Peak, CountsSharedBytesOnce) {
  Builder b;
  const AllocationId allocation = b.AddAllocation();
  const ValueId low = b.AddValue(allocation, {0, 1}, 1, 2);     // a
  const ValueId wide = b.AddValue(allocation, {1, 3}, 0, 1);    // b
  const ValueId inside = b.AddValue(allocation, {1, 2}, 1, 2);  // c
  const TruePeak peak = PeakOf(b.report);
  EXPECT_EQ(peak.all, (Peak{.bytes = 3, .time = 1}));
  EXPECT_THAT(peak.spaces, ElementsAre(SpacePeak{.color = 0, .peak = peak.all}));
  EXPECT_THAT(peak.allocations, ElementsAre(peak.all));
  EXPECT_EQ(LiveAt(b.report, 0), 2);
  EXPECT_EQ(LiveAt(b.report, 1), 3);
  EXPECT_EQ(LiveAt(b.report, 2), 2);
  // The youngest value gets the shared byte.
  EXPECT_THAT(LiveValuesAt(b.report, 1),
              ElementsAre(LiveValue{.value = low, .bytes = 1}, LiveValue{.value = wide, .bytes = 1},
                          LiveValue{.value = inside, .bytes = 1}));
}

TEST(Peak, BothEndsAreInclusive) {
  Builder b;
  b.AddValue(b.AddAllocation(), {0, 8}, 0, 3);
  b.AddValue(b.AddAllocation(), {0, 4}, 3, 3);
  b.AddValue(b.AddAllocation(), {0, 100}, 4, 2);  // never
  EXPECT_EQ(PeakOf(b.report).all, (Peak{.bytes = 12, .time = 3}));
  EXPECT_EQ(LiveAt(b.report, 3), 12);
  EXPECT_EQ(LiveAt(b.report, 4), 0);
}

TEST(Peak, TheFirstMomentThatReachesIt) {
  Builder b;
  b.AddValue(b.AddAllocation(), {0, 8}, 2, 2);
  b.AddValue(b.AddAllocation(), {0, 8}, 5, 9);
  EXPECT_EQ(PeakOf(b.report).all, (Peak{.bytes = 8, .time = 2}));
}

TEST(Peak, SpacesAreApart) {
  Builder b;
  b.AddValue(b.AddAllocation(0), {0, 8}, 0, 1);
  b.AddValue(b.AddAllocation(3), {0, 5}, 4, 4);
  b.AddValue(b.AddAllocation(3), {0, 2}, 1, 4);
  const TruePeak peak = PeakOf(b.report);
  EXPECT_EQ(peak.all, (Peak{.bytes = 10, .time = 1}));
  EXPECT_THAT(peak.spaces, ElementsAre(SpacePeak{.color = 0, .peak = {.bytes = 8, .time = 0}},
                                       SpacePeak{.color = 3, .peak = {.bytes = 7, .time = 4}}));
  EXPECT_EQ(LiveValuesAt(b.report, 4).size(), 2U);
}

TEST(Peak, ThreadLocalAllocationsAreLeftOut) {
  Builder b;
  b.AddValue(b.AddAllocation(0, true), {0, 8}, 0, 9);
  b.AddValue(b.AddAllocation(), {0, 2}, 0, 9);
  const TruePeak peak = PeakOf(b.report);
  EXPECT_EQ(peak.all.bytes, 2);
  EXPECT_THAT(peak.allocations, ElementsAre(Peak{}, Peak{.bytes = 2, .time = 0}));
  EXPECT_EQ(LiveAt(b.report, 0), 2);
}

TEST(Peak, ValuesWithoutARangeAreNamed) {
  Builder b;
  const ValueId dead = b.AddValue(b.AddAllocation(), {0, 8}, 0, 9);
  b.report.values[dead].has_range = false;
  b.AddValue(b.AddAllocation(), {0, 2}, 0, 9);
  const TruePeak peak = PeakOf(b.report);
  EXPECT_EQ(peak.all.bytes, 2);
  EXPECT_EQ(peak.values_without_range, 1);
  EXPECT_EQ(peak.bytes_without_range, 8);
}

TEST(Peak, NumbersAtTheEdge) {
  Builder b;
  b.AddValue(b.AddAllocation(), {0, INT64_MAX}, 0, INT64_MAX);
  EXPECT_EQ(PeakOf(b.report).all, (Peak{.bytes = INT64_MAX, .time = 0}));
  b.AddValue(b.AddAllocation(), {0, 1}, INT64_MAX, INT64_MAX);
  EXPECT_FALSE(ComputeTruePeak(b.report));
}

TEST(Peak, NeedsPlacesAndRanges) {
  EXPECT_TRUE(HasPeak(Example()));
  EXPECT_FALSE(HasPeak(MustRead({kAssignment})));
  EXPECT_FALSE(HasPeak(MustRead({kLiveRanges})));
  EXPECT_EQ(PeakOf(Example()).all, (Peak{.bytes = 52, .time = 4}));
}

// The figures of users.md: XLA's lists say 239 075 356 and 1 008 025 600.
TEST(Peak, OfTheSeeds) {
  EXPECT_EQ(PeakOf(Seed(0)).all, (Peak{.bytes = 41943072, .time = 5}));
  EXPECT_EQ(PeakOf(Seed(1)).all, (Peak{.bytes = 41943040, .time = 3}));
  EXPECT_EQ(PeakOf(Seed(2)).all, (Peak{.bytes = 524320, .time = 5}));

  const Report third = Seed(3);
  EXPECT_EQ(LiveAt(third, 11), 297796096);
  const TruePeak peak = PeakOf(third);
  EXPECT_EQ(peak.all, (Peak{.bytes = 297796132, .time = 9}));
  EXPECT_THAT(peak.spaces,
              ElementsAre(SpacePeak{.color = 0, .peak = {.bytes = 209716256, .time = 12}},
                          SpacePeak{.color = 1, .peak = {.bytes = 90177536, .time = 7}},
                          SpacePeak{.color = 2, .peak = {.bytes = 8, .time = 6}}));

  EXPECT_EQ(PeakOf(Seed(4)).all, (Peak{.bytes = 1012613120, .time = 13}));
  EXPECT_EQ(LiveAt(Seed(4), 14), 1012613120);
}

// Every moment, every byte.
TEST(Peak, AgreesWithCountingBytes) {
  std::mt19937 random(2);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random()) % n; };
  for (int round = 0; round < 100; ++round) {
    Builder b;
    std::vector<AllocationId> allocations;
    for (int64_t i = below(4); i >= 0; --i) {
      allocations.push_back(b.AddAllocation(below(2), below(5) == 0));
    }
    for (int64_t i = below(25); i >= 0; --i) {
      const int64_t begin = below(20);
      const int64_t start = below(12);
      b.AddValue(allocations[static_cast<size_t>(below(static_cast<int64_t>(allocations.size())))],
                 {begin, begin + below(12)}, start, start + below(6) - 1);
    }
    Peak all;
    std::map<int64_t, Peak> spaces;
    for (int64_t time = 0; time < 20; ++time) {
      std::map<int64_t, std::set<std::pair<uint32_t, int64_t>>> bytes;  // by color
      for (const Value& value : b.report.values.rows()) {
        const Allocation& allocation = b.report.allocations[value.allocation];
        if (allocation.is_thread_local || value.start > time || value.end < time) continue;
        for (int64_t i = 0; i < value.size; ++i) {
          bytes[allocation.color].emplace(value.allocation.index, value.offset + i);
        }
      }
      int64_t sum = 0;
      for (const auto& [color, set] : bytes) {
        const auto count = static_cast<int64_t>(set.size());
        sum += count;
        if (count > spaces[color].bytes) spaces[color] = {.bytes = count, .time = time};
      }
      if (sum > all.bytes) all = {.bytes = sum, .time = time};
      ASSERT_EQ(LiveAt(b.report, time), sum);
    }
    const TruePeak peak = PeakOf(b.report);
    ASSERT_EQ(peak.all, all);
    for (const SpacePeak& space : peak.spaces) ASSERT_EQ(space.peak, spaces[space.color]);
  }
}

TEST(Peak, OfAHundredThousandValues) {
  Builder b;
  const AllocationId heap = b.AddAllocation();
  constexpr int64_t kCount = 100'000;
  for (int64_t i = 0; i < kCount; ++i) {
    // Half of them overlap their neighbours, and long lives keep the tree full.
    b.AddValue(heap, {i * 64, i * 64 + 96}, i % 1000, i % 1000 + 500);
  }
  const TruePeak peak = PeakOf(b.report);
  EXPECT_EQ(peak.all.time, 500);
  // 501 of each thousand neighbours are live, 64 bytes apart; the last reaches 32 bytes further.
  EXPECT_EQ(peak.all.bytes, kCount / 1000 * (501 * 64 + 32));
}

}  // namespace
}  // namespace stowplan::report::test
