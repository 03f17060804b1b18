// SPDX-License-Identifier: Apache-2.0
// How much room each slot has to waste: amounts are taken from ranges, and the slot with the least
// left is asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stowplan::pack {

class SlackTree {
 public:
  static constexpr size_t kNoSlot = ~size_t{0};

  explicit SlackTree(std::span<const int64_t> slacks) {
    while (leaves_ < slacks.size()) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
    for (size_t i = 0; i < leaves_; ++i) {
      nodes_[leaves_ + i].slot = static_cast<uint32_t>(i);
      if (i < slacks.size()) nodes_[leaves_ + i].least = slacks[i];
    }
    for (size_t node = leaves_; --node != 0;) Join(node);
  }

  // From the slots [low, high).
  void TakeAway(size_t low, size_t high, int64_t amount) { Take(1, 0, leaves_, low, high, amount); }
  // The first slot of [low, high) with the least left; kNoSlot when all have more than `limit`.
  [[nodiscard]] size_t FindTightest(size_t low, size_t high, int64_t limit) const {
    Best best = {.slack = limit + 1};
    Find(1, 0, leaves_, low, high, 0, best);
    return best.slot;
  }

 private:
  struct Node {
    int64_t least = std::numeric_limits<int64_t>::max() / 2;  // without what is pending above
    int64_t pending = 0;                                      // taken from all below
    uint32_t slot = 0;                                        // the first with the least
  };
  struct Best {
    int64_t slack = 0;
    size_t slot = kNoSlot;
  };
  void Join(size_t node) {
    const Node& left = nodes_[2 * node];
    const Node& right = nodes_[2 * node + 1];
    const Node& less = right.least < left.least ? right : left;
    nodes_[node].least = less.least - nodes_[node].pending;
    nodes_[node].slot = less.slot;
  }
  void Take(size_t node, size_t begin, size_t end, size_t low, size_t high, int64_t amount) {
    if (high <= begin || end <= low) return;
    if (low <= begin && end <= high) {
      nodes_[node].least -= amount;
      nodes_[node].pending += amount;
      return;
    }
    const size_t middle = (begin + end) / 2;
    Take(2 * node, begin, middle, low, high, amount);
    Take(2 * node + 1, middle, end, low, high, amount);
    Join(node);
  }
  // `above` has been taken from all of the node by those above it.
  void Find(size_t node, size_t begin, size_t end, size_t low, size_t high, int64_t above,
            Best& best) const {
    if (high <= begin || end <= low || nodes_[node].least - above >= best.slack) return;
    if (low <= begin && end <= high) {
      best = {nodes_[node].least - above, nodes_[node].slot};
      return;
    }
    const size_t middle = (begin + end) / 2;
    Find(2 * node, begin, middle, low, high, above + nodes_[node].pending, best);
    Find(2 * node + 1, middle, end, low, high, above + nodes_[node].pending, best);
  }

  size_t leaves_ = 1;
  std::vector<Node> nodes_;  // from 1 on; the children of k are 2k and 2k + 1
};

}  // namespace stowplan::pack
