// SPDX-License-Identifier: Apache-2.0
// Intervals of slots with priorities: which of those inside [low, high) is best? A k-d tree over
// (lower, upper), with the best of each subtree; intervals can be taken out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace stowplan::pack {

struct SlotInterval {
  int32_t lower = 0;
  int32_t upper = 0;
};

class ContainmentTree {
 public:
  static constexpr uint32_t kNone = 0xffffffffU;

  ContainmentTree(std::span<const SlotInterval> intervals, std::span<const double> priorities)
      : intervals_(intervals), priorities_(priorities), order_(intervals.size()) {
    for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
    leaf_of_.resize(order_.size());
    if (!order_.empty()) Build(0, static_cast<uint32_t>(order_.size()), kNone, false);
  }

  // The best interval within [low, high) that covers slot `through` (-1: any); kNone if none does.
  [[nodiscard]] uint32_t FindBest(int32_t low, int32_t high, int32_t through) {
    if (nodes_.empty()) return kNone;
    uint32_t best = kNone;
    stack_.assign(1, 0);
    while (!stack_.empty()) {
      const Node& node = nodes_[stack_.back()];
      stack_.pop_back();
      if (node.best == kNone || !IsBetter(node.best, best) || node.max_lower < low ||
          node.min_upper > high)
        continue;
      if (through >= 0 && (node.min_lower > through || node.max_upper <= through)) continue;
      const bool is_inside =
          node.min_lower >= low && node.max_upper <= high &&
          (through < 0 || (node.max_lower <= through && node.min_upper > through));
      if (is_inside) {
        best = node.best;
        continue;
      }
      if (node.left == kNone) {
        for (uint32_t k = node.begin; k < node.end; ++k) {
          const uint32_t i = order_[k];
          if (i == kNone) continue;
          const SlotInterval& interval = intervals_[i];
          if (interval.lower >= low && interval.upper <= high &&
              (through < 0 || (interval.lower <= through && interval.upper > through)) &&
              IsBetter(i, best))
            best = i;
        }
        continue;
      }
      // The better half last, to be looked at first.
      const bool left_is_better = nodes_[node.right].best == kNone ||
                                  (nodes_[node.left].best != kNone &&
                                   IsBetter(nodes_[node.left].best, nodes_[node.right].best));
      stack_.push_back(left_is_better ? node.right : node.left);
      stack_.push_back(left_is_better ? node.left : node.right);
    }
    return best;
  }

  void Remove(uint32_t i) {
    uint32_t at = leaf_of_[i];
    Node& leaf = nodes_[at];
    for (uint32_t k = leaf.begin; k < leaf.end; ++k) {
      if (order_[k] == i) order_[k] = kNone;
    }
    Summarize(leaf);
    for (at = leaf.parent; at != kNone && nodes_[at].best == i; at = nodes_[at].parent)
      Join(nodes_[at]);
  }

 private:
  static constexpr uint32_t kLeafSize = 8;
  struct Node {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t left = kNone;
    uint32_t right = kNone;
    uint32_t parent = kNone;
    uint32_t best = kNone;
    int32_t min_lower = 0;
    int32_t max_lower = 0;
    int32_t min_upper = 0;
    int32_t max_upper = 0;
  };

  [[nodiscard]] bool IsBetter(uint32_t a, uint32_t b) const {
    if (b == kNone) return true;
    return priorities_[a] != priorities_[b] ? priorities_[a] > priorities_[b] : a < b;
  }

  // Builds top down with a stack of its own would be longer; the depth is the logarithm of the
  // number of intervals.
  uint32_t Build(uint32_t begin, uint32_t end, uint32_t parent, bool by_upper) {
    const auto at = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({.begin = begin, .end = end, .parent = parent});
    if (end - begin <= kLeafSize) {
      for (uint32_t k = begin; k < end; ++k) leaf_of_[order_[k]] = at;
      Summarize(nodes_[at]);
      return at;
    }
    const uint32_t middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                     [&](uint32_t a, uint32_t b) {
                       return by_upper ? intervals_[a].upper < intervals_[b].upper
                                       : intervals_[a].lower < intervals_[b].lower;
                     });
    const uint32_t left = Build(begin, middle, at, !by_upper);
    const uint32_t right = Build(middle, end, at, !by_upper);
    nodes_[at].left = left;
    nodes_[at].right = right;
    Join(nodes_[at]);
    Node& node = nodes_[at];
    node.min_lower = std::min(nodes_[left].min_lower, nodes_[right].min_lower);
    node.max_lower = std::max(nodes_[left].max_lower, nodes_[right].max_lower);
    node.min_upper = std::min(nodes_[left].min_upper, nodes_[right].min_upper);
    node.max_upper = std::max(nodes_[left].max_upper, nodes_[right].max_upper);
    return at;
  }

  // A leaf's bounds stay those of all it once held.
  void Summarize(Node& leaf) {
    leaf.best = kNone;
    bool is_first = leaf.max_upper == 0;
    for (uint32_t k = leaf.begin; k < leaf.end; ++k) {
      const uint32_t i = order_[k];
      if (i == kNone) continue;
      if (IsBetter(i, leaf.best)) leaf.best = i;
      const SlotInterval& interval = intervals_[i];
      leaf.min_lower = is_first ? interval.lower : std::min(leaf.min_lower, interval.lower);
      leaf.max_lower = is_first ? interval.lower : std::max(leaf.max_lower, interval.lower);
      leaf.min_upper = is_first ? interval.upper : std::min(leaf.min_upper, interval.upper);
      leaf.max_upper = is_first ? interval.upper : std::max(leaf.max_upper, interval.upper);
      is_first = false;
    }
  }
  void Join(Node& node) const {
    const uint32_t left = nodes_[node.left].best;
    const uint32_t right = nodes_[node.right].best;
    node.best = left == kNone || (right != kNone && IsBetter(right, left)) ? right : left;
  }

  std::span<const SlotInterval> intervals_;
  std::span<const double> priorities_;
  std::vector<uint32_t> order_;  // leaves' intervals; kNone: taken out
  std::vector<Node> nodes_;
  std::vector<uint32_t> leaf_of_;
  std::vector<uint32_t> stack_;
};

}  // namespace stowplan::pack
