// SPDX-License-Identifier: Apache-2.0
#include "check/memory.h"

#include <gtest/gtest.h>

namespace stowplan::check {
namespace {

const hlo::InstrId kWriter(1);

TEST(Memory, HoldsWhatWasWritten) {
  Memory memory(1);
  memory.Write({0, 0, 10}, 1, kWriter, 0, 1);
  EXPECT_FALSE(memory.Find({0, 0, 10}, 1));
  const auto beyond = memory.Find({0, 0, 12}, 1);
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->begin, 10);
  EXPECT_FALSE(beyond->piece);
  // The same content, but shifted.
  EXPECT_TRUE(memory.Find({0, 2, 10}, 1));
}

TEST(Memory, WritesSplitWhatIsThere) {
  Memory memory(1);
  memory.Write({0, 0, 10}, 1, kWriter, 0, 1);
  memory.Write({0, 4, 6}, 2, kWriter, 0, 2);
  const auto wrong = memory.Find({0, 0, 10}, 1);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->begin, 4);
  EXPECT_EQ(wrong->end, 6);
  EXPECT_EQ(wrong->piece->content, 2U);
  EXPECT_FALSE(memory.Find({0, 4, 6}, 2));
  // Whole again.
  memory.Write({0, 0, 10}, 1, kWriter, 0, 3);
  EXPECT_FALSE(memory.Find({0, 0, 10}, 1));
}

// An operation that is under way may have written a part of what it reads itself; the rest must be
// there.
TEST(Memory, WhatWasWrittenUntilThenDoesNotMatter) {
  Memory memory(1);
  memory.Write({0, 0, 10}, 1, kWriter, 0, 1);
  memory.Write({0, 2, 4}, 2, kWriter, 0, 2);
  EXPECT_TRUE(memory.Find({0, 0, 10}, 1));
  EXPECT_FALSE(memory.Find({0, 0, 10}, 1, 2));
  memory.Write({0, 6, 8}, 3, kWriter, 0, 3);
  const auto wrong = memory.Find({0, 0, 10}, 1, 2);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->begin, 6);
}

TEST(Memory, TakesBack) {
  Memory memory(1);
  memory.Write({0, 0, 10}, 1, kWriter, 0, 1);
  const Memory::Mark mark = memory.Begin();
  memory.Write({0, 2, 4}, 2, kWriter, 0, 2);
  memory.Write({0, 3, 20}, 3, kWriter, 0, 3);
  const std::vector<Memory::Change> changes = memory.Undo(mark);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1].bytes.end, 20);
  EXPECT_FALSE(memory.Find({0, 0, 10}, 1));
  EXPECT_TRUE(memory.Find({0, 10, 11}, 3));
}

}  // namespace
}  // namespace stowplan::check
