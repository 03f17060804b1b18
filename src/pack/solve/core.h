// SPDX-License-Identifier: Apache-2.0
// A problem as the solvers see it: items over numbered slots of time, and offsets to choose.
//
// Slots are the moments at which something begins; between two of them things only end, which needs
// no more room. Items are buffers, or groups of buffers with one offset. `Reduce` makes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

inline constexpr uint32_t kNone = 0xffffffffU;

struct Item {
  int64_t size = 0;
  int64_t room = 0;  // what others cannot use: the size, rounded up where all alignments are one
  int64_t alignment = 1;
  int32_t lower = 0;  // alive in slots [lower, upper), or in parts of that
  int32_t upper = 0;
  friend bool operator==(const Item&, const Item&) = default;
};

// In slots [lower, upper) an item needs its bytes [low, high), rounded like its room.
struct Piece {
  int32_t lower = 0;
  int32_t upper = 0;
  int64_t low = 0;
  int64_t high = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

struct Core {
  std::vector<Item> items;
  std::vector<int64_t> durations;  // by item, in the problem's time
  int32_t slot_count = 0;
  int64_t rounding = 0;  // how much room is more than size, at most
  // Of the items that are not whole all their life: pieces by item and slot, those of item i from
  // piece_begins[i] to piece_begins[i + 1]. Both empty when all are whole.
  std::vector<Piece> pieces;
  std::vector<uint32_t> piece_begins;
  std::vector<int64_t> pins;   // by item, -1 for those that are free; empty when all are
  std::vector<int64_t> hints;  // by item, -1 for those without; empty when all are

  [[nodiscard]] bool is_whole() const { return piece_begins.empty(); }
  // Whether something needs bytes of its own middle or end only, at times.
  [[nodiscard]] bool has_windows() const {
    return std::ranges::any_of(pieces, [](const Piece& piece) { return piece.low != 0; });
  }
  [[nodiscard]] bool is_pinned(uint32_t item) const { return !pins.empty() && pins[item] >= 0; }
  // Calls visit(piece) for each piece of the item; a whole item is one.
  template <class Visit>
  void EachPiece(uint32_t item, Visit visit) const {
    if (is_whole()) {
      visit(Piece{items[item].lower, items[item].upper, 0, items[item].room});
      return;
    }
    for (uint32_t p = piece_begins[item]; p < piece_begins[item + 1]; ++p) visit(pieces[p]);
  }
};

// The room that is needed, by slot.
std::vector<int64_t> LoadsOf(const Core& core);

}  // namespace stowplan::pack
