// SPDX-License-Identifier: Apache-2.0
// Best fit: groups one by one, each into the smallest gap among those placed before it that are
// alive with it.
//
// What is occupied while a group is alive is the union of what lies there in any of its intervals.
// A segment tree over time holds, for each node, the bytes occupied in all of its time and in any
// of it; neighbours melt into one range, and gaps that are too small are forgotten at once, so that
// a question touches few ranges even when everything is alive at once.
#include <algorithm>
#include <limits>
#include <ranges>

#include "assign/byte_ranges.h"
#include "assign/heap.h"
#include "base/checked_math.h"

namespace stowplan {
namespace {

class TimeTree {
 public:
  explicit TimeTree(int64_t end) {
    while (leaves_ < static_cast<size_t>(std::max<int64_t>(end, 1))) leaves_ *= 2;
    always_.resize(leaves_);
    sometimes_.resize(2 * leaves_);
  }

  void Occupy(HeapInterval time, ByteRange bytes) {
    size_t low = leaves_ + static_cast<size_t>(time.start);
    size_t high = leaves_ + static_cast<size_t>(time.end);
    const auto cover = [&](size_t node) {
      if (node < leaves_) always_[node].Add(bytes);
      sometimes_[node].Add(bytes);
    };
    cover(low);
    if (low != high) cover(high);
    // Up from both ends: the nodes that cover the interval lie between the two paths. What a node
    // has, all above it have.
    bool is_new_low = true;
    bool is_new_high = true;
    for (; low / 2 != high / 2; low /= 2, high /= 2) {
      if (low % 2 == 0) cover(low + 1);
      if (high % 2 == 1) cover(high - 1);
      is_new_low = is_new_low && sometimes_[low / 2].Add(bytes);
      is_new_high = is_new_high && sometimes_[high / 2].Add(bytes);
    }
    if (!is_new_low && !is_new_high) return;
    for (size_t up = low / 2; up != 0 && sometimes_[up].Add(bytes); up /= 2) {
    }
  }

  // Appends the sets whose union is what is occupied at any time of the interval; those of long
  // times come last.
  void Collect(HeapInterval time, std::vector<const ByteRanges*>& out) const {
    size_t low = leaves_ + static_cast<size_t>(time.start);
    size_t high = leaves_ + static_cast<size_t>(time.end);
    const auto take = [&](const ByteRanges& set) {
      if (!set.ranges().empty()) out.push_back(&set);
    };
    take(sometimes_[low]);
    if (low != high) take(sometimes_[high]);
    for (; low / 2 != high / 2; low /= 2, high /= 2) {
      take(always_[low / 2]);
      take(always_[high / 2]);
      if (low % 2 == 0) take(sometimes_[low + 1]);
      if (high % 2 == 1) take(sometimes_[high - 1]);
    }
    for (size_t up = low / 2; up != 0; up /= 2) take(always_[up]);
  }

 private:
  size_t leaves_ = 1;
  std::vector<ByteRanges> always_;     // by node above the leaves: occupied during all of its time
  std::vector<ByteRanges> sometimes_;  // by node: occupied during some of its time
};

// Gaps of at least a given size. Sets of occupied bytes are taken out one after the other; gaps
// that become too small are dropped at once, so that few are looked at again.
class Gaps {
 public:
  // Nothing is occupied.
  void Start(int64_t size) {
    size_ = size;
    gaps_.assign(1, {0, std::numeric_limits<int64_t>::max()});
  }

  void TakeOut(std::span<const ByteRange> occupied) {
    next_.clear();
    auto range = occupied.begin();
    for (ByteRange gap : gaps_) {
      range = FirstEndingBehind(range, occupied.end(), gap.begin);
      for (auto inside = range; inside != occupied.end() && inside->begin < gap.end; ++inside) {
        Keep({gap.begin, inside->begin});
        gap.begin = std::max(gap.begin, inside->end);
      }
      Keep(gap);
    }
    std::swap(gaps_, next_);
  }

  // The begin of the smallest one; the lowest of equals. The last one has no end.
  [[nodiscard]] int64_t Smallest() const {
    return std::ranges::min(gaps_, {}, [](const ByteRange& gap) { return gap.end - gap.begin; })
        .begin;
  }

 private:
  using Iterator = std::span<const ByteRange>::iterator;
  // The next ranges are near most of the time: steps grow until one is too long.
  static Iterator FirstEndingBehind(Iterator from, Iterator end, int64_t at) {
    std::ptrdiff_t step = 1;
    while (step < end - from && (from + step)->end <= at) step *= 2;
    return std::partition_point(from, from + std::min(step + 1, end - from),
                                [&](const ByteRange& range) { return range.end <= at; });
  }
  void Keep(ByteRange gap) {
    if (gap.end > gap.begin && gap.end - gap.begin >= size_) next_.push_back(gap);
  }

  int64_t size_ = 0;
  std::vector<ByteRange> gaps_;
  std::vector<ByteRange> next_;
};

// The clock in phases: some values begin, then some end. Who is alive with whom is a matter of
// phases alone, and there are far fewer of them than events.
class Phases {
 public:
  explicit Phases(const HeapInput& input) : phases_(static_cast<size_t>(input.end), 0) {
    for (const HeapGroup& group : input.groups) {
      for (const HeapInterval& interval : group.intervals)
        phases_[static_cast<size_t>(interval.end)] = 1;
    }
    uint32_t phase = 0;
    bool was_end = false;
    for (uint32_t& row : phases_) {
      const bool is_end = row != 0;
      if (was_end && !is_end) ++phase;
      was_end = is_end;
      row = phase;
    }
    count_ = int64_t{phase} + 1;
  }
  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] HeapInterval Of(HeapInterval interval) const {
    return {phases_[static_cast<size_t>(interval.start)],
            phases_[static_cast<size_t>(interval.end)]};
  }

 private:
  std::vector<uint32_t> phases_;  // by time
  int64_t count_ = 0;
};

HeapPlan PackInOrder(const HeapInput& input, const Phases& phases, std::span<const uint32_t> order,
                     int64_t alignment, int64_t limit) {
  HeapPlan plan;
  plan.offsets.assign(input.groups.size(), HeapPlan::kUnplaced);
  TimeTree tree(phases.count());
  std::vector<const ByteRanges*> sets;
  Gaps gaps;
  for (const uint32_t g : order) {
    const HeapGroup& group = input.groups[g];
    sets.clear();
    for (const HeapInterval& interval : group.intervals) tree.Collect(phases.Of(interval), sets);
    gaps.Start(group.size);
    for (const ByteRanges* set : std::views::reverse(sets)) gaps.TakeOut(set->ranges());
    const int64_t offset = gaps.Smallest();
    const std::optional<int64_t> end = CheckedAdd(offset, group.size);
    if (!end || (*end > limit && plan.size != 0)) continue;
    const std::optional<int64_t> aligned_end = CheckedRoundUp(*end, alignment);
    if (!aligned_end) continue;
    plan.offsets[g] = offset;
    plan.size = std::max(plan.size, *end);
    // Gaps begin at multiples of the alignment.
    for (const HeapInterval& interval : group.intervals)
      tree.Occupy(phases.Of(interval), {offset, *aligned_end});
  }
  return plan;
}

// Groups that are not placed yet, by falling keys, then by number.
template <class Key>
std::vector<uint32_t> OrderBy(const HeapInput& input, std::span<const uint8_t> is_placed, Key key) {
  struct Row {
    std::pair<int64_t, int64_t> key;
    ValueId first;
    uint32_t group;
  };
  std::vector<Row> rows;
  for (uint32_t g = 0; g < input.groups.size(); ++g) {
    if (is_placed[g] == 0) rows.push_back({key(input.groups[g]), input.groups[g].first, g});
  }
  std::ranges::sort(rows, [](const Row& a, const Row& b) {
    return a.key != b.key ? a.key > b.key : a.first < b.first;
  });
  std::vector<uint32_t> order(rows.size());
  std::ranges::transform(rows, order.begin(), &Row::group);
  return order;
}

}  // namespace

HeapPlan PackBestFit(const HeapInput& input, int64_t alignment, int64_t limit,
                     std::span<const uint8_t> is_placed) {
  const Phases phases(input);
  const std::vector<uint32_t> largest_first = OrderBy(input, is_placed, [](const HeapGroup& group) {
    return std::pair(group.first_size, group.intervals[0].end - group.intervals[0].start);
  });
  HeapPlan by_size = PackInOrder(input, phases, largest_first, alignment, limit);
  const std::vector<uint32_t> longest_first = OrderBy(input, is_placed, [](const HeapGroup& group) {
    const int64_t start = std::ranges::min(group.intervals, {}, &HeapInterval::start).start;
    const int64_t end = std::ranges::max(group.intervals, {}, &HeapInterval::end).end;
    return std::pair(end - start, group.first_size);
  });
  HeapPlan by_length = PackInOrder(input, phases, longest_first, alignment, limit);
  return by_length.size < by_size.size ? by_length : by_size;
}

}  // namespace stowplan
