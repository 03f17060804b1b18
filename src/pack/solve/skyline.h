// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "pack/solve/core.h"

namespace stowplan::pack {

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

}  // namespace stowplan::pack
