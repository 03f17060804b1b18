// SPDX-License-Identifier: Apache-2.0
#include "proto/id_map.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace stowplan::proto {
namespace {

TEST(IdMap, FindsWhatWasAdded) {
  IdMap map;
  EXPECT_EQ(map.Find(0), IdMap::kNone);
  EXPECT_TRUE(map.Add(0, 10));
  EXPECT_TRUE(map.Add(-1, 11));
  EXPECT_TRUE(map.Add(INT64_MAX, 12));
  EXPECT_FALSE(map.Add(0, 13));
  EXPECT_EQ(map.Find(0), 10U);
  EXPECT_EQ(map.Find(-1), 11U);
  EXPECT_EQ(map.Find(INT64_MAX), 12U);
  EXPECT_EQ(map.Find(1), IdMap::kNone);
}

TEST(IdMap, Clear) {
  IdMap map;
  for (int64_t id = 0; id < 1000; ++id) EXPECT_TRUE(map.Add(id, 1));
  map.Clear();
  EXPECT_EQ(map.Find(5), IdMap::kNone);
  EXPECT_TRUE(map.Add(5, 2));
  EXPECT_EQ(map.Find(5), 2U);
  EXPECT_EQ(map.Find(6), IdMap::kNone);
}

// Ids that all begin at the same slot, whatever the size of the table.
TEST(IdMap, CrowdedIds) {
  IdMap map;
  constexpr uint32_t kCount = 20'000;
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_TRUE(map.Add(int64_t{i} << 40U, i));
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(map.Find(int64_t{i} << 40U), i);
  EXPECT_FALSE(map.Add(int64_t{kCount - 1} << 40U, 0));
  EXPECT_EQ(map.Find(1), IdMap::kNone);
  map.Clear();
  EXPECT_EQ(map.Find(0), IdMap::kNone);
}

}  // namespace
}  // namespace stowplan::proto
