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
    least_.assign(2 * leaves_, std::numeric_limits<int64_t>::max() / 2);
    pending_.assign(leaves_, 0);
    slots_.assign(leaves_, 0);
    std::ranges::copy(slacks, least_.begin() + static_cast<std::ptrdiff_t>(leaves_));
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
  struct Best {
    int64_t slack = 0;
    size_t slot = kNoSlot;
  };
  [[nodiscard]] size_t SlotOf(size_t node) const {
    return node >= leaves_ ? node - leaves_ : slots_[node];
  }
  void Join(size_t node) {
    const size_t less = least_[2 * node + 1] < least_[2 * node] ? 2 * node + 1 : 2 * node;
    least_[node] = least_[less] - pending_[node];
    slots_[node] = static_cast<uint32_t>(SlotOf(less));
  }
  void Take(size_t node, size_t begin, size_t end, size_t low, size_t high, int64_t amount) {
    if (high <= begin || end <= low) return;
    if (low <= begin && end <= high) {
      least_[node] -= amount;
      if (node < leaves_) pending_[node] += amount;
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
    if (high <= begin || end <= low || least_[node] - above >= best.slack) return;
    if (low <= begin && end <= high) {
      best = {least_[node] - above, SlotOf(node)};
      return;
    }
    const size_t middle = (begin + end) / 2;
    Find(2 * node, begin, middle, low, high, above + pending_[node], best);
    Find(2 * node + 1, middle, end, low, high, above + pending_[node], best);
  }

  size_t leaves_ = 1;
  // By node, from 1 on; the children of k are 2k and 2k + 1, and leaves come last.
  std::vector<int64_t> least_;    // without what is pending above
  std::vector<int64_t> pending_;  // taken from all below
  std::vector<uint32_t> slots_;   // the first with the least
};

}  // namespace stowplan::pack
