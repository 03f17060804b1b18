// SPDX-License-Identifier: Apache-2.0
// Best fit: groups one by one, each into the smallest gap among those placed before it that are
// alive with it.
#include <algorithm>
#include <optional>
#include <utility>

#include "assign/heap.h"
#include "assign/occupancy.h"
#include "base/checked_math.h"

namespace stowplan {
namespace {

// When groups are alive, in phases of the clock: some values begin, then some end. Who is alive
// with whom is a matter of phases alone, and there are far fewer of them than events. A value that
// takes over the place of another begins in the phase that follows: their intervals are one.
class Times {
 public:
  explicit Times(const HeapInput& input) {
    const std::vector<uint32_t> phases = FindPhases(input);
    count_ = phases.empty() ? 0 : int64_t{phases.back()} + 1;
    std::vector<HeapInterval> own;
    first_.reserve(input.groups.size() + 1);
    for (const HeapGroup& group : input.groups) {
      first_.push_back(intervals_.size());
      own.clear();
      for (const HeapInterval& interval : group.intervals) {
        own.push_back({phases[static_cast<size_t>(interval.start)],
                       phases[static_cast<size_t>(interval.end)]});
      }
      std::ranges::sort(own, {}, &HeapInterval::start);
      for (const HeapInterval& next : own) {
        if (intervals_.size() == first_.back() || intervals_.back().end + 1 < next.start) {
          intervals_.push_back(next);
        } else {
          intervals_.back().end = std::max(intervals_.back().end, next.end);
        }
      }
    }
    first_.push_back(intervals_.size());
  }
  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] std::span<const HeapInterval> all() const { return intervals_; }
  [[nodiscard]] std::span<const HeapInterval> Of(uint32_t group) const {
    return all().subspan(first_[group], first_[group + 1] - first_[group]);
  }

 private:
  static std::vector<uint32_t> FindPhases(const HeapInput& input) {
    std::vector<uint32_t> phases(static_cast<size_t>(input.end), 0);
    for (const HeapGroup& group : input.groups) {
      for (const HeapInterval& interval : group.intervals)
        phases[static_cast<size_t>(interval.end)] = 1;
    }
    uint32_t phase = 0;
    bool was_end = false;
    for (uint32_t& row : phases) {
      const bool is_end = row != 0;
      if (was_end && !is_end) ++phase;
      was_end = is_end;
      row = phase;
    }
    return phases;
  }

  int64_t count_ = 0;
  std::vector<HeapInterval> intervals_;
  std::vector<size_t> first_;  // by group, into intervals_
};

HeapPlan PackInOrder(const HeapInput& input, const Times& times, std::vector<uint32_t> order,
                     int64_t alignment, int64_t limit) {
  HeapPlan plan;
  plan.spots.resize(input.groups.size());
  const auto is_larger = [&](uint32_t g) { return input.groups[g].size > limit; };
  do {
    const auto heap = static_cast<uint32_t>(plan.sizes.size());
    int64_t& height = plan.sizes.emplace_back(0);
    // The first lies at the begin. Heaps may be as many as groups: those with no more than one do
    // not pay for all times.
    std::optional<Occupancy> occupancy;
    const auto occupy = [&](uint32_t g) {
      const auto [of, offset] = plan.spots[g];
      const int64_t end = SaturatingAdd(offset, input.groups[g].size);
      const int64_t aligned_end = CheckedRoundUp(end, alignment).value_or(end);
      for (const HeapInterval& time : times.Of(g)) occupancy->Occupy(time, {offset, aligned_end});
    };
    std::vector<uint32_t> left;
    for (const uint32_t g : order) {
      if (height == 0) {
        plan.spots[g] = {heap, 0};
        height = input.groups[g].size;
        continue;
      }
      if (is_larger(g)) {
        left.push_back(g);
        continue;
      }
      if (!occupancy) {
        occupancy.emplace(times.all(), times.count());
        occupy(order[0]);
      }
      const HeapGroup& group = input.groups[g];
      // Gaps begin and end at multiples of the alignment.
      const int64_t enough = CheckedRoundUp(group.size, alignment).value_or(group.size);
      const int64_t offset = occupancy->FindGap(times.Of(g), group.size, enough);
      const int64_t end = SaturatingAdd(offset, group.size);
      if (end > limit) {
        left.push_back(g);
        continue;
      }
      plan.spots[g] = {heap, offset};
      height = std::max(height, end);
      occupy(g);
    }
    order = std::move(left);
    if (std::ranges::all_of(order, is_larger)) {
      for (const uint32_t g : order) {
        plan.spots[g] = {static_cast<uint32_t>(plan.sizes.size()), 0};
        plan.sizes.push_back(input.groups[g].size);
      }
      order.clear();
    }
  } while (!order.empty());
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
  const Times times(input);
  std::vector<uint32_t> largest_first = OrderBy(input, is_placed, [](const HeapGroup& group) {
    return std::pair(group.first_size, group.intervals[0].end - group.intervals[0].start);
  });
  HeapPlan by_size = PackInOrder(input, times, std::move(largest_first), alignment, limit);
  std::vector<uint32_t> longest_first = OrderBy(input, is_placed, [](const HeapGroup& group) {
    const int64_t start = std::ranges::min(group.intervals, {}, &HeapInterval::start).start;
    const int64_t end = std::ranges::max(group.intervals, {}, &HeapInterval::end).end;
    return std::pair(end - start, group.first_size);
  });
  HeapPlan by_length = PackInOrder(input, times, std::move(longest_first), alignment, limit);
  return by_length.total() < by_size.total() ? by_length : by_size;
}

}  // namespace stowplan
