// SPDX-License-Identifier: Apache-2.0
#include "executable/contents.h"

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan::executable {
namespace {

TEST(NamePool, NumbersKeys) {
  NamePool pool;
  const std::vector<uint64_t> a = {1, 2};
  const std::vector<uint64_t> b = {1, 2, 3};
  EXPECT_NE(pool.Find(a), kUndefined);
  EXPECT_EQ(pool.Find(a), pool.Find(a));
  EXPECT_NE(pool.Find(a), pool.Find(b));
}

TEST(Contents, PutsPiecesTogether) {
  Contents contents(1);
  EXPECT_EQ(contents.Read({0, 0, 8}), (std::vector<Piece>{{0, 8, kUndefined, 0}}));
  contents.Write({0, 2, 4}, 7, 0);
  EXPECT_EQ(contents.Read({0, 0, 8}),
            (std::vector<Piece>{{0, 2, kUndefined, 0}, {2, 6, 7, 0}, {6, 8, kUndefined, 0}}));
  EXPECT_EQ(contents.Read({0, 3, 2}), (std::vector<Piece>{{0, 2, 7, 1}}));
  contents.Write({0, 6, 2}, 7, 4);
  EXPECT_EQ(contents.Read({0, 2, 6}), (std::vector<Piece>{{0, 6, 7, 0}}));
  contents.Write({0, 4, 1}, 8, 0);
  EXPECT_EQ(contents.Read({0, 2, 6}),
            (std::vector<Piece>{{0, 2, 7, 0}, {2, 3, 8, 0}, {3, 6, 7, 3}}));
}

// Against a memory that has a name and an offset for each byte.
TEST(Contents, AgreesWithSingleBytes) {
  constexpr int64_t kBytes = 40;
  std::mt19937 random(1);
  Contents contents(1);
  std::vector<std::pair<ContentName, int64_t>> bytes(kBytes, {kUndefined, 0});
  for (int step = 0; step < 2000; ++step) {
    const auto offset = static_cast<int64_t>(random() % kBytes);
    const auto size = static_cast<int64_t>(random() % static_cast<uint64_t>(kBytes - offset + 1));
    const auto name = static_cast<ContentName>(random() % 4);
    const auto from = name == kUndefined ? 0 : static_cast<int64_t>(random() % 3);
    contents.Write({0, offset, size}, name, from);
    for (int64_t i = 0; i < size; ++i)
      bytes[static_cast<size_t>(offset + i)] = {name, name == kUndefined ? 0 : from + i};
    int64_t at = 0;
    for (const Piece& piece : contents.Read({0, 0, kBytes})) {
      ASSERT_EQ(piece.begin, at);
      for (; at < piece.end; ++at) {
        ASSERT_EQ(bytes[static_cast<size_t>(at)].first, piece.name);
        const int64_t from_name = piece.name == kUndefined ? 0 : piece.offset + at - piece.begin;
        ASSERT_EQ(bytes[static_cast<size_t>(at)].second, from_name);
      }
    }
    ASSERT_EQ(at, kBytes);
  }
}

}  // namespace
}  // namespace stowplan::executable
