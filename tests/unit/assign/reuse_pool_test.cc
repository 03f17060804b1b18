// SPDX-License-Identifier: Apache-2.0
// Allocations that may be moved into: the quick search passes over none that has room.
#include "assign/reuse_pool.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowplan {
namespace {

using testing::ElementsAre;

constexpr int64_t kEnd = 40;

LiveRange RandomRange(std::mt19937& random) {
  const auto start = static_cast<int64_t>(random() % kEnd);
  return {start, std::min<int64_t>(kEnd, start + static_cast<int64_t>(random() % 9))};
}

TEST(Tenancy, FindsAllThatTouch) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Tenancy tenancy(kEnd);
    std::vector<LiveRange> ranges;
    for (uint32_t k = 0; k < 12; ++k) {
      const LiveRange range = RandomRange(random);
      // Tenants may touch in one moment, no more.
      const bool fits = std::ranges::all_of(ranges, [&](const LiveRange& other) {
        return range.start >= other.end || other.start >= range.end;
      });
      if (fits) {
        tenancy.Add({range, ValueId(k)});
        ranges.push_back(range);
      }
      const LiveRange asked = RandomRange(random);
      std::vector<LiveRange> found;
      EXPECT_FALSE(tenancy.AnyTouching(asked, [&](const Tenancy::Tenant& tenant) {
        found.push_back(tenant.range);
        return false;
      }));
      std::vector<LiveRange> expected;
      std::ranges::copy_if(ranges, std::back_inserter(expected), [&](const LiveRange& other) {
        return asked.start <= other.end && other.start <= asked.end;
      });
      const auto sort = [](std::vector<LiveRange>& rows) {
        std::ranges::sort(rows, {}, [](const LiveRange& r) { return std::pair(r.start, r.end); });
      };
      sort(found);
      sort(expected);
      ASSERT_EQ(found, expected) << "round " << round;
    }
  }
}

TEST(Tenancy, KnowsItsLongestGap) {
  Tenancy tenancy(20);
  EXPECT_EQ(tenancy.LongestGap(), 20);
  tenancy.Add({{5, 8}, ValueId(0)});
  EXPECT_EQ(tenancy.LongestGap(), 12);
  tenancy.Add({{10, 20}, ValueId(1)});
  EXPECT_EQ(tenancy.LongestGap(), 5);
  EXPECT_EQ(tenancy.GapBounds(), std::pair(int64_t{0}, int64_t{10}));
}

// Whether the range lies in a gap, ends touching or not.
bool HasRoom(const std::vector<LiveRange>& tenants, const LiveRange& range) {
  return std::ranges::all_of(tenants, [&](const LiveRange& other) {
    return range.start >= other.end || other.start >= range.end;
  });
}

TEST(ReusePool, PassesOverNoneWithRoomAndGoesBackwards) {
  std::mt19937 random(2);
  int visited = 0;
  int asked_for = 0;
  for (int round = 0; round < 300; ++round) {
    ReusePool pool;
    std::vector<Tenancy> tenancies;
    std::vector<std::vector<LiveRange>> tenants;
    for (uint32_t step = 0; step < 60; ++step) {
      if (tenancies.empty() || random() % 3 == 0) {
        tenancies.emplace_back(kEnd);
        tenants.emplace_back();
        if (random() % 2 == 0) {
          const LiveRange range = {static_cast<int64_t>(random() % 20), kEnd};
          tenancies.back().Add({range, ValueId(step)});
          tenants.back().push_back(range);
        }
        pool.Add(AllocationId(tenancies.size() - 1), tenancies.back());
      }
      const LiveRange range = RandomRange(random);
      std::vector<uint32_t> tried;
      uint32_t taken = AllocationId::kNone;
      pool.TryLastFirst(range, [&](AllocationId id) {
        tried.push_back(id.index);
        if (!HasRoom(tenants[id.index], range) || random() % 4 == 0) return false;
        taken = id.index;
        return true;
      });
      ASSERT_TRUE(std::ranges::is_sorted(tried, std::greater<>()));
      // All that have room, as far as the search went, were tried.
      const uint32_t stop = taken == AllocationId::kNone ? 0 : taken;
      for (uint32_t a = stop; a < tenants.size(); ++a) {
        if (HasRoom(tenants[a], range)) {
          ASSERT_TRUE(std::ranges::find(tried, a) != tried.end()) << "round " << round;
        }
      }
      visited += static_cast<int>(tried.size());
      asked_for += static_cast<int>(tenants.size());
      if (taken == AllocationId::kNone) continue;
      tenancies[taken].Add({range, ValueId(step)});
      tenants[taken].push_back(range);
      pool.Update(AllocationId(taken), tenancies[taken]);
    }
  }
  EXPECT_EQ(visited, 33750);  // it passes over some
  EXPECT_EQ(asked_for, 194175);
}

TEST(ReusePool, AnEmptyPoolOffersNothing) {
  const ReusePool pool;
  EXPECT_FALSE(pool.TryLastFirst({0, 1}, [](AllocationId) { return true; }));
}

}  // namespace
}  // namespace stowplan
