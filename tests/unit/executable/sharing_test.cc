// SPDX-License-Identifier: Apache-2.0
#include "executable/sharing.h"

#include <vector>

#include <gtest/gtest.h>

namespace stowplan::executable {
namespace {

std::string Sharing(const std::vector<Slice>& slices) {
  std::vector<Slot> slots;
  for (const Slice& slice : slices) slots.push_back({.slice = slice});
  return SharingOf(slots);
}

TEST(Sharing, DependsOnWhatOverlapsOnly) {
  EXPECT_EQ(Sharing({}), "");
  EXPECT_EQ(Sharing({{0, 0, 8}, {0, 8, 8}, {1, 0, 8}}), "");
  EXPECT_EQ(Sharing({{0, 0, 8}, {0, 0, 8}}), "1>0+0;");
  EXPECT_EQ(Sharing({{3, 64, 8}, {0, 0, 8}, {3, 64, 8}}), "2>0+0;");
  EXPECT_EQ(Sharing({{0, 8, 8}, {0, 0, 9}}), "1>0+-8;");
  // The second and third do not overlap, but both do with the first.
  EXPECT_EQ(Sharing({{0, 0, 16}, {0, 0, 8}, {0, 8, 8}}), "1>0+0;2>0+8;");
  // Nothing shares with an empty slice.
  EXPECT_EQ(Sharing({{0, 0, 8}, {0, 4, 0}, {0, 0, 0}}), "");
}

TEST(Sharing, EmptySlicesDoNotHideOthers) {
  EXPECT_EQ(Sharing({{0, 0, 16}, {0, 4, 0}, {0, 8, 8}}), "2>0+8;");
}

}  // namespace
}  // namespace stowplan::executable
