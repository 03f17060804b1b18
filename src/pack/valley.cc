// SPDX-License-Identifier: Apache-2.0
#include "pack/valley.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "pack/align.h"
#include "pack/slack_tree.h"

namespace stowplan::pack {
namespace {

// The surface of what has been placed: flat pieces from left to right, the lowest first.
class Skyline {
 public:
  struct Piece {
    int32_t low = 0;
    int32_t high = 0;
    int64_t height = 0;
    uint32_t left = kNone;
    uint32_t right = kNone;
    bool is_gone = false;
  };

  explicit Skyline(int32_t count) { Add({.low = 0, .high = count}); }

  [[nodiscard]] const Piece& operator[](uint32_t id) const { return pieces_[id]; }

  // How high the surface beside a piece is; where there is none, as high as can be.
  [[nodiscard]] int64_t WallOf(uint32_t side) const {
    return side == kNone ? std::numeric_limits<int64_t>::max() : pieces_[side].height;
  }

  // The lowest piece; the leftmost of equals.
  uint32_t Lowest() {
    while (!IsNow(queue_.front())) {
      std::ranges::pop_heap(queue_, std::greater<>());
      queue_.pop_back();
    }
    return queue_.front().id;
  }

  // Puts a block of `height` over [low, high) of a piece.
  void Place(uint32_t id, int32_t low, int32_t high, int64_t height) {
    const Piece piece = pieces_[id];
    if (low > piece.low) {
      const uint32_t before = Add(
          {.low = piece.low, .high = low, .height = piece.height, .left = piece.left, .right = id});
      if (piece.left != kNone) pieces_[piece.left].right = before;
      pieces_[id].left = before;
    }
    if (high < piece.high) {
      const uint32_t behind = Add({.low = high,
                                   .high = piece.high,
                                   .height = piece.height,
                                   .left = id,
                                   .right = piece.right});
      if (piece.right != kNone) pieces_[piece.right].left = behind;
      pieces_[id].right = behind;
    }
    pieces_[id].low = low;
    pieces_[id].high = high;
    SetHeight(id, height);
  }

  // Raises a piece to its lower wall; by how much, or nothing when it has none.
  std::optional<int64_t> Raise(uint32_t id) {
    const Piece& piece = pieces_[id];
    std::optional<int64_t> wall;
    for (const uint32_t side : {piece.left, piece.right}) {
      if (side != kNone && (!wall || pieces_[side].height < *wall)) wall = pieces_[side].height;
    }
    if (!wall) return std::nullopt;
    const int64_t waste = *wall - piece.height;
    SetHeight(id, *wall);
    return waste;
  }

 private:
  struct Entry {
    int64_t height;
    int32_t low;
    uint32_t id;
    bool operator>(const Entry& other) const {
      return height != other.height ? height > other.height : low > other.low;
    }
  };
  uint32_t Add(const Piece& piece) {
    uint32_t id = static_cast<uint32_t>(pieces_.size());
    if (gone_.empty()) {
      pieces_.push_back(piece);
    } else {
      id = gone_.back();
      gone_.pop_back();
      pieces_[id] = piece;
    }
    Push(id);
    return id;
  }
  void Push(uint32_t id) {
    queue_.push_back({pieces_[id].height, pieces_[id].low, id});
    std::ranges::push_heap(queue_, std::greater<>());
    if (queue_.size() < 1024 || queue_.size() < 8 * (pieces_.size() - gone_.size())) return;
    // Most of it is past.
    std::erase_if(queue_, [&](const Entry& entry) { return !IsNow(entry); });
    std::ranges::make_heap(queue_, std::greater<>());
  }
  [[nodiscard]] bool IsNow(const Entry& entry) const {
    const Piece& piece = pieces_[entry.id];
    return !piece.is_gone && piece.height == entry.height && piece.low == entry.low;
  }
  void Drop(uint32_t id) {
    pieces_[id].is_gone = true;
    gone_.push_back(id);
  }
  // Neighbours of one height become one piece.
  void SetHeight(uint32_t id, int64_t height) {
    Piece& piece = pieces_[id];
    piece.height = height;
    if (piece.left != kNone && pieces_[piece.left].height == height) {
      const Piece& left = pieces_[piece.left];
      Drop(piece.left);
      piece.low = left.low;
      piece.left = left.left;
      if (piece.left != kNone) pieces_[piece.left].right = id;
    }
    if (piece.right != kNone && pieces_[piece.right].height == height) {
      const Piece& right = pieces_[piece.right];
      Drop(piece.right);
      piece.high = right.high;
      piece.right = right.right;
      if (piece.right != kNone) pieces_[piece.right].left = id;
    }
    Push(id);
  }

  std::vector<Piece> pieces_;
  std::vector<uint32_t> gone_;  // pieces that may be used again
  std::vector<Entry> queue_;    // a heap; entries of pieces as they were are passed over
};

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

Valleys::Valleys(const Core& core)
    : core_(core),
      tree_(core.items),
      loads_(HullLoadsOf(core)),
      beginning_(SortBySlot(core, &Item::lower)),
      ending_(SortBySlot(core, &Item::upper)) {}

std::vector<int64_t> Valleys::Decode(std::span<const uint32_t> order, const ValleyRule& rule,
                                     int64_t goal) {
  const std::vector<Item>& items = core_.items;
  std::vector<int64_t> offsets(items.size(), 0);
  if (items.empty()) return offsets;
  std::vector<uint32_t> ranks(items.size());  // kNone: it is down
  for (uint32_t r = 0; r < order.size(); ++r) ranks[order[r]] = r;
  tree_.Fill(ranks);
  const bool is_tight = rule.tight > 0;
  const auto near = static_cast<int64_t>(static_cast<double>(goal) * rule.tight);
  std::optional<SlackTree> slack_tree;
  if (is_tight) {
    std::vector<int64_t> slacks = loads_;
    for (int64_t& slack : slacks) slack = goal - slack;
    slack_tree.emplace(slacks);
  }
  Skyline skyline(core_.slot_count);
  const auto find_tight = [&](const Skyline::Piece& piece) {
    if (!is_tight) return kNone;
    const size_t slot = slack_tree->FindTightest(static_cast<size_t>(piece.low),
                                                 static_cast<size_t>(piece.high), near);
    if (slot == SlackTree::kNoSlot) return kNone;
    return tree_.FindBest(piece.low, piece.high, static_cast<int32_t>(slot));
  };
  const auto find_snug = [&](const Skyline::Piece& piece) {
    if (!rule.is_snug) return kNone;
    // Where very many begin or end at once, some are enough.
    constexpr uint32_t kMost = 64;
    uint32_t best = kNone;
    int best_score = 3;
    const auto look = [&](const ItemsBySlot& sorted, int32_t slot, int64_t wall, int64_t other) {
      const uint32_t begin = sorted.begins[static_cast<size_t>(slot)];
      const uint32_t end = sorted.begins[static_cast<size_t>(slot) + 1];
      for (uint32_t k = begin; k < std::min(end, begin + kMost); ++k) {
        const uint32_t i = sorted.items[k];
        if (ranks[i] == kNone || items[i].lower < piece.low || items[i].upper > piece.high)
          continue;
        const int64_t top = AlignUp(piece.height, items[i].alignment) + items[i].room;
        const bool is_wide = items[i].lower == piece.low && items[i].upper == piece.high;
        const int score = (top == wall ? 4 : 0) + (top < wall ? 1 : 0) + (is_wide ? 3 : 0) +
                          (is_wide && top == other ? 4 : 0);
        if (score > best_score || (score == best_score && ranks[i] < best)) {
          best = ranks[i];
          best_score = score;
        }
      }
    };
    look(beginning_, piece.low, skyline.WallOf(piece.left), skyline.WallOf(piece.right));
    look(ending_, piece.high, skyline.WallOf(piece.right), skyline.WallOf(piece.left));
    return best_score > 3 ? best : kNone;
  };
  const auto find_corner = [&](const Skyline::Piece& piece) {
    if (rule.corner == Corner::kAny) return kNone;
    const bool is_left_higher = skyline.WallOf(piece.left) > skyline.WallOf(piece.right);
    const bool is_left = (rule.corner == Corner::kHigher) == is_left_higher;
    const uint32_t rank =
        tree_.FindBest(piece.low, piece.high, is_left ? piece.low : piece.high - 1);
    if (rank != kNone) return rank;
    return tree_.FindBest(piece.low, piece.high, is_left ? piece.high - 1 : piece.low);
  };
  for (size_t left = items.size(); left != 0;) {
    const uint32_t id = skyline.Lowest();
    const Skyline::Piece piece = skyline[id];
    uint32_t rank = find_snug(piece);
    if (rank == kNone) rank = rule.is_corner_first ? find_corner(piece) : find_tight(piece);
    if (rank == kNone) rank = rule.is_corner_first ? find_tight(piece) : find_corner(piece);
    if (rank == kNone) rank = tree_.FindBest(piece.low, piece.high, -1);
    if (rank == kNone) {
      const std::optional<int64_t> waste = skyline.Raise(id);
      if (!waste) break;  // all is flat, and nothing is left
      if (is_tight) {
        slack_tree->TakeAway(static_cast<size_t>(piece.low), static_cast<size_t>(piece.high),
                             *waste);
      }
      continue;
    }
    const uint32_t i = order[rank];
    offsets[i] = AlignUp(piece.height, items[i].alignment);
    tree_.Remove(i);
    ranks[i] = kNone;
    --left;
    skyline.Place(id, items[i].lower, items[i].upper, offsets[i] + items[i].room);
  }
  return offsets;
}

}  // namespace stowplan::pack
