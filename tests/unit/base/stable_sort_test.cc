// SPDX-License-Identifier: Apache-2.0
#include "base/stable_sort.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace stowplan {
namespace {

using KeyedText = std::pair<int, std::string>;

RC_GTEST_PROP(StableSort, DoesWhatTheStandardDoes, (std::vector<KeyedText> rows)) {
  // Few keys, so that many rows are equal.
  for (KeyedText& row : rows) row.first %= 4;
  std::vector<KeyedText> expected = rows;
  std::ranges::stable_sort(expected, {}, &KeyedText::first);
  std::vector<KeyedText> sorted = rows;
  StableSort(sorted, {}, &KeyedText::first);
  RC_ASSERT(sorted == expected);

  std::ranges::stable_sort(expected, std::greater(),
                           [](const KeyedText& row) { return row.second; });
  StableSort(sorted, std::greater(), [](const KeyedText& row) { return row.second; });
  RC_ASSERT(sorted == expected);
}

TEST(StableSort, RowsNeedNotBeCopied) {
  std::vector<std::unique_ptr<int>> rows;
  for (const int number : {3, 1, 2}) rows.push_back(std::make_unique<int>(number));
  StableSort(rows, [](const auto& a, const auto& b) { return *a < *b; });
  EXPECT_EQ(*rows[0], 1);
  EXPECT_EQ(*rows[1], 2);
  EXPECT_EQ(*rows[2], 3);
}

}  // namespace
}  // namespace stowplan
