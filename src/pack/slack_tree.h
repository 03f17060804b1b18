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
  struct Least {
    int64_t slack = std::numeric_limits<int64_t>::max();
    size_t slot = 0;
  };
  explicit SlackTree(std::span<const int64_t> slacks) {
    while (leaves_ < slacks.size()) leaves_ *= 2;
    least_.assign(2 * leaves_, std::numeric_limits<int64_t>::max() / 2);
    pending_.assign(2 * leaves_, 0);
    for (size_t i = 0; i < slacks.size(); ++i) least_[leaves_ + i] = slacks[i];
    for (size_t node = leaves_; --node != 0;)
      least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
  }

  // From the slots [low, high).
  void TakeAway(size_t low, size_t high, int64_t amount) { Take(1, 0, leaves_, low, high, amount); }
  // The first slot of [low, high) with the least left.
  [[nodiscard]] Least FindTightest(size_t low, size_t high) const {
    Least best;
    Find(1, 0, leaves_, low, high, 0, best);
    return best;
  }

 private:
  void Take(size_t node, size_t begin, size_t end, size_t low, size_t high, int64_t amount) {
    if (high <= begin || end <= low) return;
    if (low <= begin && end <= high) {
      least_[node] -= amount;
      pending_[node] += amount;
      return;
    }
    const size_t middle = (begin + end) / 2;
    Take(2 * node, begin, middle, low, high, amount);
    Take(2 * node + 1, middle, end, low, high, amount);
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1]) - pending_[node];
  }
  // `above` has been taken from all of the node by those above it.
  void Find(size_t node, size_t begin, size_t end, size_t low, size_t high, int64_t above,
            Least& best) const {
    if (high <= begin || end <= low || least_[node] - above >= best.slack) return;
    if (end - begin == 1) {
      best = {least_[node] - above, begin};
      return;
    }
    const size_t middle = (begin + end) / 2;
    Find(2 * node, begin, middle, low, high, above + pending_[node], best);
    Find(2 * node + 1, middle, end, low, high, above + pending_[node], best);
  }

  size_t leaves_ = 1;
  std::vector<int64_t> least_;    // by node, without what is pending above it
  std::vector<int64_t> pending_;  // by node: taken from all below it
};

}  // namespace stowplan::pack
