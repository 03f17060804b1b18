// SPDX-License-Identifier: Apache-2.0
#include "base/radix_sort.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan {
namespace {

using Row = std::pair<int64_t, uint32_t>;  // the key, and where it was

void CompareWithStableSort(std::vector<int64_t> keys) {
  std::vector<Row> rows;
  for (const int64_t key : keys) rows.emplace_back(key, static_cast<uint32_t>(rows.size()));
  std::vector<Row> expected = rows;
  std::ranges::stable_sort(expected, {}, &Row::first);
  RadixSort(rows, [](const Row& row) { return RadixKey(row.first); });
  EXPECT_EQ(rows, expected);
}

TEST(RadixSort, IsAStableSort) {
  std::mt19937_64 random(1);
  for (const size_t count : {0U, 1U, 2U, 127U, 128U, 129U, 5000U}) {
    for (const int64_t most : {int64_t{1}, int64_t{9}, int64_t{100'000}, INT64_MAX}) {
      std::vector<int64_t> keys(count);
      for (int64_t& key : keys) key = static_cast<int64_t>(random()) % most;  // some below 0
      CompareWithStableSort(keys);
      std::ranges::sort(keys);
      CompareWithStableSort(keys);
    }
  }
}

TEST(RadixSort, KnowsTheEndsOfTheLine) {
  std::vector<int64_t> keys(200, 0);
  keys[3] = INT64_MAX;
  keys[5] = INT64_MIN;
  keys[199] = -1;
  CompareWithStableSort(keys);
}

}  // namespace
}  // namespace stowplan
