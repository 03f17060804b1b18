// SPDX-License-Identifier: Apache-2.0
// The time sweep: groups as they begin, each into the smallest hole that is free by then. A group
// holds its place from its first moment to its last.
#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "assign/heap.h"
#include "base/checked_math.h"

namespace stowplan {
namespace {

// Free ranges by begin, and by the room they have after an aligned begin.
class FreeBytes {
 public:
  explicit FreeBytes(int64_t alignment) : alignment_(alignment) {
    Insert(0, std::numeric_limits<int64_t>::max());
  }

  struct Taken {
    int64_t begin;  // of the free range: slack before an aligned offset is taken too
    int64_t offset;
  };
  // The range with the least room that holds `size`; the lowest of equals.
  Taken Take(int64_t size) {
    const auto row = by_room_.lower_bound({size, 0});
    const int64_t begin = row->second;
    const int64_t end = by_begin_.find(begin)->second;
    const int64_t offset = Aligned(begin);
    Remove(begin);
    if (offset + size < end) Insert(offset + size, end);
    return {begin, offset};
  }

  void Release(int64_t begin, int64_t end) {
    auto next = by_begin_.lower_bound(begin);
    if (next != by_begin_.end() && next->first == end) {
      end = next->second;
      Remove(std::exchange(next, std::next(next))->first);
    }
    if (next != by_begin_.begin()) {
      const auto before = std::prev(next);
      if (before->second == begin) {
        begin = before->first;
        Remove(begin);
      }
    }
    Insert(begin, end);
  }

 private:
  [[nodiscard]] int64_t Aligned(int64_t offset) const {
    return CheckedRoundUp(offset, alignment_).value_or(std::numeric_limits<int64_t>::max());
  }
  [[nodiscard]] int64_t Room(int64_t begin, int64_t end) const { return end - Aligned(begin); }
  void Insert(int64_t begin, int64_t end) {
    by_begin_[begin] = end;
    by_room_.emplace(Room(begin, end), begin);
  }
  void Remove(int64_t begin) {
    const auto row = by_begin_.find(begin);
    by_room_.erase({Room(begin, row->second), begin});
    by_begin_.erase(row);
  }

  int64_t alignment_;
  std::map<int64_t, int64_t> by_begin_;
  std::set<std::pair<int64_t, int64_t>> by_room_;
};

}  // namespace

HeapPlan PackTimeSweep(const HeapInput& input, int64_t alignment, int64_t limit,
                       std::span<const uint8_t> is_placed) {
  struct Hull {
    int64_t start;
    int64_t end;
  };
  std::vector<Hull> hulls;
  std::vector<uint32_t> order;
  for (uint32_t g = 0; g < input.groups.size(); ++g) {
    const HeapGroup& group = input.groups[g];
    hulls.push_back({std::ranges::min(group.intervals, {}, &HeapInterval::start).start,
                     std::ranges::max(group.intervals, {}, &HeapInterval::end).end});
    if (is_placed[g] == 0) order.push_back(g);
  }
  std::ranges::sort(order, {}, [&](uint32_t g) {
    return std::tuple(hulls[g].start, -input.groups[g].first_size, input.groups[g].first);
  });
  HeapPlan plan;
  plan.spots.resize(input.groups.size());
  do {
    const auto heap = static_cast<uint32_t>(plan.sizes.size());
    int64_t& height = plan.sizes.emplace_back(0);
    FreeBytes free(alignment);
    // Release time, begin, end of what is taken.
    using Busy = std::tuple<int64_t, int64_t, int64_t>;
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
    std::vector<uint32_t> left;
    for (const uint32_t g : order) {
      while (!busy.empty() && std::get<0>(busy.top()) <= hulls[g].start) {
        free.Release(std::get<1>(busy.top()), std::get<2>(busy.top()));
        busy.pop();
      }
      const int64_t size = input.groups[g].size;
      const FreeBytes::Taken taken = free.Take(size);
      if (taken.offset + size > limit && height != 0) {
        free.Release(taken.begin, taken.offset + size);
        left.push_back(g);
        continue;
      }
      plan.spots[g] = {heap, taken.offset};
      height = std::max(height, taken.offset + size);
      busy.emplace(hulls[g].end, taken.begin, taken.offset + size);
    }
    order = std::move(left);
  } while (!order.empty());
  return plan;
}

}  // namespace stowplan
