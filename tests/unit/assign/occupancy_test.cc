// SPDX-License-Identifier: Apache-2.0
// Occupied bytes over time, against a list that is looked through from one end to the other.
#include "assign/occupancy.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan {
namespace {

class List {
 public:
  void Occupy(HeapInterval time, ByteRange bytes) { rows_.push_back({time, bytes}); }

  [[nodiscard]] int64_t FindGap(const std::vector<HeapInterval>& times, int64_t size) const {
    std::vector<ByteRange> used;
    for (const Row& row : rows_) {
      if (std::ranges::any_of(times, [&](const HeapInterval& time) {
            return row.time.start <= time.end && time.start <= row.time.end;
          }))
        used.push_back(row.bytes);
    }
    std::ranges::sort(used, {}, &ByteRange::begin);
    int64_t end = 0;
    int64_t best = -1;
    int64_t best_size = 0;
    for (const ByteRange& range : used) {
      const int64_t gap = range.begin - end;
      if (gap >= size && (best == -1 || gap < best_size)) {
        best = end;
        best_size = gap;
      }
      end = std::max(end, range.end);
    }
    return best == -1 ? end : best;  // the last gap has no end
  }

 private:
  struct Row {
    HeapInterval time;
    ByteRange bytes;
  };
  std::vector<Row> rows_;
};

constexpr int64_t kTimes = 120;

HeapInterval RandomTime(std::mt19937& random) {
  const auto start = static_cast<int64_t>(random() % kTimes);
  const auto length = static_cast<int64_t>(random() % (random() % 4 == 0 ? kTimes : 6));
  return {start, std::min(kTimes - 1, start + length)};
}

struct Round {
  uint32_t seed;
  Occupancy::Limits limits;
  bool is_packed;  // each lies in the gap that is found; otherwise anywhere
};

void Compare(const Round& round) {
  std::mt19937 random(round.seed);
  std::vector<std::vector<HeapInterval>> wanted(150);
  std::vector<HeapInterval> all;
  for (std::vector<HeapInterval>& times : wanted) {
    const size_t count = random() % 5 == 0 ? 1 + random() % 30 : 1;
    for (size_t k = 0; k < count; ++k) times.push_back(RandomTime(random));
    all.insert(all.end(), times.begin(), times.end());
  }
  Occupancy occupancy(all, kTimes, round.limits);
  List list;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const int64_t size = 1 + static_cast<int64_t>(random() % 6);
    const int64_t gap = occupancy.FindGap(wanted[k], size, size);
    ASSERT_EQ(gap, list.FindGap(wanted[k], size))
        << "seed " << round.seed << ", " << round.limits.inside << " inside, number " << k;
    const int64_t begin = round.is_packed ? gap : static_cast<int64_t>(random() % 400);
    for (const HeapInterval& time : wanted[k]) {
      occupancy.Occupy(time, {begin, begin + size});
      list.Occupy(time, {begin, begin + size});
    }
  }
}

TEST(Occupancy, EqualsAPlainList) {
  uint32_t seed = 1;
  for (const size_t most_inside : std::vector<size_t>{0, 1, 2, 5, 20, 1000}) {
    for (int k = 0; k < 8; ++k) {
      ASSERT_NO_FATAL_FAILURE(
          Compare({seed++, {most_inside, k % 4 < 2 ? size_t{16} : 1}, k % 2 == 0}));
    }
  }
}

TEST(Occupancy, WhoeverKnowsWhatIsEnoughGetsTheFirst) {
  const std::vector<HeapInterval> times = {{0, 9}, {0, 9}, {0, 9}};
  Occupancy occupancy(times, 10);
  occupancy.Occupy({0, 9}, {8, 16});
  occupancy.Occupy({0, 9}, {20, 24});
  const std::vector<HeapInterval> time = {{3, 4}};
  EXPECT_EQ(occupancy.FindGap(time, 3, 3), 16);
  EXPECT_EQ(occupancy.FindGap(time, 3, 8), 0);
  EXPECT_EQ(occupancy.FindGap(time, 9, 9), 24);
  EXPECT_EQ(occupancy.FindGap(time, 0, 0), 16);
}

}  // namespace
}  // namespace stowplan
