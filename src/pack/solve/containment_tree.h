// SPDX-License-Identifier: Apache-2.0
// Items with ranks: which of those alive only within [low, high) has the best? A k-d tree over
// (lower, upper), with the best rank of each subtree; items can be taken out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pack/solve/core.h"

namespace stowplan::pack {

class ContainmentTree {
 public:
  explicit ContainmentTree(std::span<const Item> items) : count_(items.size()) {
    while (leaves_ * kLeafSize < count_) leaves_ *= 2;
    std::vector<uint32_t> order(count_);
    for (uint32_t i = 0; i < count_; ++i) order[i] = i;
    Split(items, order, 1, 0, leaves_, false);
    entries_.resize(count_);
    entry_of_.resize(count_);
    for (uint32_t k = 0; k < count_; ++k) {
      entries_[k] = {items[order[k]].lower, items[order[k]].upper, kNone};
      entry_of_[order[k]] = k;
    }
    bounds_.resize(2 * leaves_);
    best_.resize(2 * leaves_);
    for (size_t leaf = 0; leaf < leaves_; ++leaf) {
      for (size_t k = BeginOf(leaf); k < BeginOf(leaf + 1); ++k)
        bounds_[leaves_ + leaf].Include(entries_[k]);
    }
    for (size_t node = leaves_; --node != 0;)
      bounds_[node] = Bounds::Join(bounds_[2 * node], bounds_[2 * node + 1]);
  }

  // All items are there, with these ranks: numbers of their own, 0 the best.
  void Fill(std::span<const uint32_t> ranks) {
    for (uint32_t i = 0; i < count_; ++i) entries_[entry_of_[i]].rank = ranks[i];
    for (size_t leaf = 0; leaf < leaves_; ++leaf) best_[leaves_ + leaf] = BestOfLeaf(leaf);
    for (size_t node = leaves_; --node != 0;)
      best_[node] = std::min(best_[2 * node], best_[2 * node + 1]);
  }

  // The best rank within [low, high) over slot `through` (-1: any); kNone if there is none.
  [[nodiscard]] uint32_t FindBest(int32_t low, int32_t high, int32_t through) const {
    const int32_t from = through < 0 ? high : through;  // the last slot to begin in
    const int32_t to = through < 0 ? low : through;     // and the first to end behind
    uint32_t best = kNone;
    size_t stack[64];
    size_t depth = 0;
    stack[depth++] = 1;
    while (depth != 0) {
      const size_t node = stack[--depth];
      if (best_[node] >= best) continue;
      const Bounds& bounds = bounds_[node];
      if (bounds.max_lower < low || bounds.min_upper > high || bounds.min_lower > from ||
          bounds.max_upper <= to)
        continue;
      if (bounds.min_lower >= low && bounds.max_upper <= high && bounds.max_lower <= from &&
          bounds.min_upper > to) {
        best = best_[node];
        continue;
      }
      if (node >= leaves_) {
        const size_t leaf = node - leaves_;
        for (size_t k = BeginOf(leaf); k < BeginOf(leaf + 1); ++k) {
          const Entry& entry = entries_[k];
          if (entry.rank < best && entry.lower >= low && entry.upper <= high &&
              entry.lower <= from && entry.upper > to)
            best = entry.rank;
        }
        continue;
      }
      // The better half last, to be looked at first.
      const size_t better = best_[2 * node] < best_[2 * node + 1] ? 2 * node : 2 * node + 1;
      stack[depth++] = better ^ 1U;
      stack[depth++] = better;
    }
    return best;
  }

  void Remove(uint32_t item) {
    const size_t k = entry_of_[item];
    const uint32_t rank = std::exchange(entries_[k].rank, kNone);
    size_t leaf = k * leaves_ / count_;
    while (BeginOf(leaf + 1) <= k) ++leaf;
    size_t node = leaves_ + leaf;
    if (best_[node] != rank) return;
    best_[node] = BestOfLeaf(leaf);
    for (node /= 2; node != 0 && best_[node] == rank; node /= 2)
      best_[node] = std::min(best_[2 * node], best_[2 * node + 1]);
  }

 private:
  static constexpr size_t kLeafSize = 8;
  struct Entry {
    int32_t lower;
    int32_t upper;
    uint32_t rank;  // kNone: taken out
  };
  // Of all entries that a node has had.
  struct Bounds {
    int32_t min_lower = INT32_MAX;
    int32_t max_lower = INT32_MIN;
    int32_t min_upper = INT32_MAX;
    int32_t max_upper = INT32_MIN;
    void Include(const Entry& entry) {
      min_lower = std::min(min_lower, entry.lower);
      max_lower = std::max(max_lower, entry.lower);
      min_upper = std::min(min_upper, entry.upper);
      max_upper = std::max(max_upper, entry.upper);
    }
    static Bounds Join(const Bounds& a, const Bounds& b) {
      return {std::min(a.min_lower, b.min_lower), std::max(a.max_lower, b.max_lower),
              std::min(a.min_upper, b.min_upper), std::max(a.max_upper, b.max_upper)};
    }
  };

  // The first entry of a leaf.
  [[nodiscard]] size_t BeginOf(size_t leaf) const { return leaf * count_ / leaves_; }
  [[nodiscard]] uint32_t BestOfLeaf(size_t leaf) const {
    uint32_t best = kNone;
    for (size_t k = BeginOf(leaf); k < BeginOf(leaf + 1); ++k)
      best = std::min(best, entries_[k].rank);
    return best;
  }

  // Divides by lower and upper ends in turn. The depth is the logarithm of the number of leaves.
  void Split(std::span<const Item> items, std::vector<uint32_t>& order, size_t node,
             size_t first_leaf, size_t end_leaf, bool by_upper) {
    if (node >= leaves_) return;
    const size_t middle_leaf = (first_leaf + end_leaf) / 2;
    const auto at = [&](size_t leaf) {
      return order.begin() + static_cast<std::ptrdiff_t>(BeginOf(leaf));
    };
    std::nth_element(at(first_leaf), at(middle_leaf), at(end_leaf), [&](uint32_t a, uint32_t b) {
      return by_upper ? items[a].upper < items[b].upper : items[a].lower < items[b].lower;
    });
    Split(items, order, 2 * node, first_leaf, middle_leaf, !by_upper);
    Split(items, order, 2 * node + 1, middle_leaf, end_leaf, !by_upper);
  }

  size_t count_;
  size_t leaves_ = 1;
  std::vector<Entry> entries_;      // by leaf
  std::vector<uint32_t> entry_of_;  // by item
  std::vector<Bounds> bounds_;      // by node, from 1 on; the children of k are 2k and 2k + 1
  std::vector<uint32_t> best_;      // by node: a rank
};

}  // namespace stowplan::pack
