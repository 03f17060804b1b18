// SPDX-License-Identifier: Apache-2.0
// What goes into pools, and how full a pool is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "pack/problem/pieces.h"
#include "stowplan/pack.h"

namespace stowplan::pack {

// A buffer or a group.
struct Unit {
  std::vector<uint32_t> members;  // in order
  std::vector<uint32_t> pools;    // where it may be, the preferred one first
  int64_t size = 0;
  int64_t life = 0;
  int64_t pin = -1;
  bool is_urgent = false;  // it went without a pool before
};

std::vector<Unit> FindUnits(const Problem& problem);

// How much is needed at each moment of those at which something begins; room is asked for by
// pieces.
class LoadTree {
 public:
  explicit LoadTree(const Problem& problem) : problem_(problem) {
    for (const Buffer& buffer : problem.buffers) times_.push_back(buffer.start);
    for (const Gap& gap : problem.gaps) times_.insert(times_.end(), {gap.start, gap.end});
    std::ranges::sort(times_);
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    most_.resize(2 * std::bit_ceil(times_.size() + 1));
    added_.resize(most_.size());
  }

  // Takes the unit's bytes where at most `capacity` are in use then, or nothing.
  bool Take(const Unit& unit, int64_t capacity) {
    if (!Fits(unit, capacity)) return false;
    EachPieceOf(unit, [&](const BufferPiece& piece) {
      Add(1, 0, most_.size() / 2, SlotOf(piece.start), SlotOf(piece.end), piece.high - piece.low);
    });
    return true;
  }
  [[nodiscard]] bool Fits(const Unit& unit, int64_t capacity) const {
    bool fits = true;
    EachPieceOf(unit, [&](const BufferPiece& piece) {
      const int64_t most = Most(1, 0, most_.size() / 2, SlotOf(piece.start), SlotOf(piece.end));
      fits = fits && most + piece.high - piece.low <= capacity;
    });
    return fits;
  }

 private:
  // A group counts as one that needs its largest member all the time: it may be turned down though
  // there is room, and Solve is asked once more.
  template <class Visit>
  void EachPieceOf(const Unit& unit, Visit visit) const {
    if (unit.members.size() == 1) {
      const uint32_t b = unit.members.front();
      EachPiece(problem_.buffers[b], std::ranges::equal_range(problem_.gaps, b, {}, &Gap::buffer),
                visit);
      return;
    }
    BufferPiece hull = {INT64_MAX, INT64_MIN, 0, unit.size};
    for (const uint32_t b : unit.members) {
      hull.start = std::min(hull.start, problem_.buffers[b].start);
      hull.end = std::max(hull.end, problem_.buffers[b].end);
    }
    if (unit.size > 0) visit(hull);
  }
  [[nodiscard]] size_t SlotOf(int64_t time) const {
    return static_cast<size_t>(std::ranges::lower_bound(times_, time) - times_.begin());
  }
  void Add(size_t node, size_t begin, size_t end, size_t low, size_t high, int64_t bytes) {
    if (high <= begin || end <= low) return;
    if (low <= begin && end <= high) {
      added_[node] += bytes;
      most_[node] += bytes;
      return;
    }
    const size_t middle = (begin + end) / 2;
    Add(2 * node, begin, middle, low, high, bytes);
    Add(2 * node + 1, middle, end, low, high, bytes);
    most_[node] = std::max(most_[2 * node], most_[2 * node + 1]) + added_[node];
  }
  [[nodiscard]] int64_t Most(size_t node, size_t begin, size_t end, size_t low, size_t high) const {
    if (high <= begin || end <= low) return 0;
    if (low <= begin && end <= high) return most_[node];
    const size_t middle = (begin + end) / 2;
    return added_[node] + std::max(Most(2 * node, begin, middle, low, high),
                                   Most(2 * node + 1, middle, end, low, high));
  }

  const Problem& problem_;
  std::vector<int64_t> times_;
  std::vector<int64_t> most_;   // by node of a segment tree over the times
  std::vector<int64_t> added_;  // to all of the node
};

}  // namespace stowplan::pack
