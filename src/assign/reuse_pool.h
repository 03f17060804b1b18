// SPDX-License-Identifier: Apache-2.0
// Allocations that buffers may move into, and when they are free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "assign/assignment.h"

namespace stowplan {

// The values that live in an allocation one after the other, and the gaps between them.
class Tenancy {
 public:
  struct Tenant {
    LiveRange range;
    ValueId value;
  };
  // `end` is the end of the program: nothing lives longer.
  explicit Tenancy(int64_t end) : end_(end) { AddGap(0, end); }

  void Add(const Tenant& tenant);
  // Calls visit(tenant) for those that touch the range, until it returns true; returns whether it
  // did.
  template <class Visit>
  bool AnyTouching(const LiveRange& range, Visit visit) const {
    // Starts and ends ascend together, since no two live at once.
    auto row = tenants_.lower_bound({range.start, 0});
    while (row != tenants_.begin() && std::prev(row)->second.range.end >= range.start) --row;
    for (; row != tenants_.end() && row->second.range.start <= range.end; ++row) {
      if (visit(row->second)) return true;
    }
    return false;
  }
  // The longest time that no value lives here.
  [[nodiscard]] int64_t LongestGap() const { return lengths_.empty() ? -1 : *lengths_.rbegin(); }
  // All gaps of nonzero length lie between these.
  [[nodiscard]] std::pair<int64_t, int64_t> GapBounds() const {
    if (gaps_.empty()) return {end_, 0};
    return {gaps_.begin()->first, gaps_.rbegin()->second};
  }

 private:
  void AddGap(int64_t start, int64_t end) {
    if (start >= end) return;
    gaps_[start] = end;
    lengths_.insert(end - start);
  }

  int64_t end_;
  std::multimap<std::pair<int64_t, int64_t>, Tenant> tenants_;  // by start and end
  std::map<int64_t, int64_t> gaps_;                             // start to end; none is empty
  std::multiset<int64_t> lengths_;                              // of the gaps
};

// Times, kept as ranges that are apart.
class SpanSet {
 public:
  void Add(LiveRange range) {
    auto row = ends_.upper_bound(range.end);
    while (row != ends_.begin() && std::prev(row)->second >= range.start) {
      --row;
      range.start = std::min(range.start, row->first);
      range.end = std::max(range.end, row->second);
      row = ends_.erase(row);
    }
    ends_.emplace(range.start, range.end);
  }
  // Whether any range of the set meets this one, if only at an end.
  [[nodiscard]] bool Touches(const LiveRange& range) const {
    const auto row = ends_.upper_bound(range.end);
    return row != ends_.begin() && std::prev(row)->second >= range.start;
  }

 private:
  std::map<int64_t, int64_t> ends_;  // by start
};

// Allocations in the order in which they were made. Most have no room for a given buffer; a tree
// over their longest gaps skips these.
class ReusePool {
 public:
  void Add(AllocationId id, const Tenancy& tenancy);
  // Its gaps have become smaller.
  void Update(AllocationId id, const Tenancy& tenancy);

  // Calls attempt(allocation) for those that may have a gap for the range, the last one first,
  // until it returns true; whether it did.
  template <class Attempt>
  bool TryLastFirst(const LiveRange& range, Attempt attempt) const {
    for (size_t k = ids_.size(); (k = FindBefore(k, range)) != kNone;) {
      if (attempt(ids_[k])) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct Room {
    int64_t length = -1;
    int64_t start = 0;
    int64_t end = -1;
  };
  static bool Fits(const Room& room, const LiveRange& range) {
    // A value that is defined and dies at the same instant fits into gaps of length zero, which are
    // not kept.
    if (range.start == range.end) return room.length != -1;
    return range.end - range.start <= room.length && room.start <= range.start &&
           range.end <= room.end;
  }
  static Room RoomOf(const Tenancy& tenancy);
  static Room Join(const Room& a, const Room& b);
  // The last row before `k` into which the range may fit.
  [[nodiscard]] size_t FindBefore(size_t k, const LiveRange& range) const;
  // The first row below a node.
  [[nodiscard]] size_t FirstRow(size_t node) const {
    while (node < leaves_) node *= 2;
    return node - leaves_;
  }
  void Set(size_t row, const Room& room);

  std::vector<AllocationId> ids_;
  std::map<AllocationId, size_t> rows_;
  size_t leaves_ = 1;
  std::vector<Room> tree_ = std::vector<Room>(2);
};

}  // namespace stowplan
