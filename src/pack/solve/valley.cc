// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/valley.h"

#include <algorithm>
#include <optional>

#include "pack/solve/align.h"
#include "pack/solve/skyline.h"
#include "pack/solve/slack_tree.h"

namespace stowplan::pack {
namespace {

std::vector<int64_t> HullLoadsOf(const Core& core) {
  std::vector<int64_t> loads(static_cast<size_t>(core.slot_count) + 1, 0);
  for (const Item& item : core.items) {
    loads[static_cast<size_t>(item.lower)] += item.room;
    loads[static_cast<size_t>(item.upper)] -= item.room;
  }
  for (size_t s = 1; s < loads.size(); ++s) loads[s] += loads[s - 1];
  loads.pop_back();
  return loads;
}

ItemsBySlot SortBySlot(const Core& core, int32_t Item::* slot) {
  ItemsBySlot sorted;
  sorted.begins.assign(static_cast<size_t>(core.slot_count) + 2, 0);
  for (const Item& item : core.items) ++sorted.begins[static_cast<size_t>(item.*slot) + 1];
  for (size_t s = 1; s < sorted.begins.size(); ++s) sorted.begins[s] += sorted.begins[s - 1];
  sorted.items.resize(core.items.size());
  std::vector<uint32_t> next = sorted.begins;
  for (uint32_t i = 0; i < core.items.size(); ++i)
    sorted.items[next[static_cast<size_t>(core.items[i].*slot)]++] = i;
  return sorted;
}

}  // namespace

// One plan in the making. What to put into a valley is told by its rank in the order; kNone when
// there is nothing.
class Valleys::Pouring {
 public:
  Pouring(Valleys& valleys, std::span<const uint32_t> order, const ValleyRule& rule, int64_t goal)
      : valleys_(valleys),
        items_(valleys.core_.items),
        order_(order),
        rule_(rule),
        near_(static_cast<int64_t>(static_cast<double>(goal) * rule.tight)),
        ranks_(items_.size()),
        skyline_(valleys.core_.slot_count) {
    for (uint32_t r = 0; r < order.size(); ++r) ranks_[order[r]] = r;
    valleys.tree_.Fill(ranks_);
    if (rule.tight > 0) {
      std::vector<int64_t> slacks = valleys.loads_;
      for (int64_t& slack : slacks) slack = goal - slack;
      slack_tree_.emplace(slacks);
    }
  }

  std::vector<int64_t> Run() && {
    std::vector<int64_t> offsets(items_.size(), 0);
    for (size_t left = items_.size(); left != 0;) {
      const uint32_t id = skyline_.Lowest();
      const Skyline::Piece valley = skyline_[id];
      const uint32_t rank = Find(valley);
      if (rank == kNone) {
        const std::optional<int64_t> waste = skyline_.Raise(id);
        if (!waste) break;  // all is flat, and nothing is left
        if (slack_tree_) slack_tree_->TakeAway(SlotOf(valley.low), SlotOf(valley.high), *waste);
        continue;
      }
      const uint32_t i = order_[rank];
      offsets[i] = AlignUp(valley.height, items_[i].alignment);
      valleys_.tree_.Remove(i);
      ranks_[i] = kNone;
      --left;
      skyline_.Place(id, items_[i].lower, items_[i].upper, offsets[i] + items_[i].room);
    }
    return offsets;
  }

 private:
  static size_t SlotOf(int32_t slot) { return static_cast<size_t>(slot); }

  [[nodiscard]] uint32_t Find(const Skyline::Piece& valley) const {
    uint32_t rank = rule_.is_snug ? FindSnug(valley) : kNone;
    if (rank == kNone) rank = rule_.is_corner_first ? FindCorner(valley) : FindTight(valley);
    if (rank == kNone) rank = rule_.is_corner_first ? FindTight(valley) : FindCorner(valley);
    if (rank == kNone) rank = valleys_.tree_.FindBest(valley.low, valley.high, -1);
    return rank;
  }

  [[nodiscard]] uint32_t FindTight(const Skyline::Piece& valley) const {
    if (!slack_tree_) return kNone;
    const size_t slot = slack_tree_->FindTightest(SlotOf(valley.low), SlotOf(valley.high), near_);
    if (slot == SlackTree::kNoSlot) return kNone;
    return valleys_.tree_.FindBest(valley.low, valley.high, static_cast<int32_t>(slot));
  }

  [[nodiscard]] uint32_t FindCorner(const Skyline::Piece& valley) const {
    if (rule_.corner == Corner::kAny) return kNone;
    const bool is_left_higher = skyline_.WallOf(valley.left) > skyline_.WallOf(valley.right);
    const bool is_left = (rule_.corner == Corner::kHigher) == is_left_higher;
    const int32_t first = is_left ? valley.low : valley.high - 1;
    const uint32_t rank = valleys_.tree_.FindBest(valley.low, valley.high, first);
    if (rank != kNone) return rank;
    const int32_t second = is_left ? valley.high - 1 : valley.low;
    return valleys_.tree_.FindBest(valley.low, valley.high, second);
  }

  struct Snug {
    uint32_t rank = kNone;
    int score = 3;  // what is worse is not snug
  };
  [[nodiscard]] uint32_t FindSnug(const Skyline::Piece& valley) const {
    Snug best;
    const int64_t left = skyline_.WallOf(valley.left);
    const int64_t right = skyline_.WallOf(valley.right);
    LookForSnug(valley, valleys_.beginning_, valley.low, left, right, best);
    LookForSnug(valley, valleys_.ending_, valley.high, right, left, best);
    return best.rank;
  }
  // Among the items that end where the wall stands.
  void LookForSnug(const Skyline::Piece& valley, const ItemsBySlot& sorted, int32_t slot,
                   int64_t wall, int64_t other_wall, Snug& best) const {
    // Where very many begin or end at once, some are enough.
    constexpr uint32_t kMost = 64;
    const uint32_t begin = sorted.begins[SlotOf(slot)];
    const uint32_t end = std::min(sorted.begins[SlotOf(slot) + 1], begin + kMost);
    for (uint32_t k = begin; k < end; ++k) {
      const uint32_t i = sorted.items[k];
      const Item& item = items_[i];
      if (ranks_[i] == kNone || item.lower < valley.low || item.upper > valley.high) continue;
      const int64_t top = AlignUp(valley.height, item.alignment) + item.room;
      const bool is_wide = item.lower == valley.low && item.upper == valley.high;
      const int score = (top == wall ? 4 : 0) + (top < wall ? 1 : 0) + (is_wide ? 3 : 0) +
                        (is_wide && top == other_wall ? 4 : 0);
      if (score > best.score ||
          (score == best.score && best.rank != kNone && ranks_[i] < best.rank))
        best = {.rank = ranks_[i], .score = score};
    }
  }

  Valleys& valleys_;
  const std::vector<Item>& items_;
  std::span<const uint32_t> order_;
  const ValleyRule& rule_;
  int64_t near_;
  std::vector<uint32_t> ranks_;  // by item; kNone: it is down
  std::optional<SlackTree> slack_tree_;
  Skyline skyline_;
};

Valleys::Valleys(const Core& core)
    : core_(core),
      tree_(core.items),
      loads_(HullLoadsOf(core)),
      beginning_(SortBySlot(core, &Item::lower)),
      ending_(SortBySlot(core, &Item::upper)) {}

std::vector<int64_t> Valleys::Decode(std::span<const uint32_t> order, const ValleyRule& rule,
                                     int64_t goal) {
  if (core_.items.empty()) return {};
  return Pouring(*this, order, rule, goal).Run();
}

}  // namespace stowplan::pack
