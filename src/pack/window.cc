// SPDX-License-Identifier: Apache-2.0
#include "pack/window.h"

#include <algorithm>

namespace stowplan::pack {

Window MakeWindow(const Core& core, int32_t from, int32_t to, std::span<const uint32_t> free,
                  std::span<const uint32_t> fixed, std::span<const int64_t> offsets) {
  Window window;
  Core& part = window.core;
  part.rounding = core.rounding;
  // Slots at which something begins here.
  std::vector<int32_t> slots(static_cast<size_t>(to - from) + 1, 0);
  const auto each_piece = [&](uint32_t item, auto visit) {
    core.EachPiece(item, [&](Piece piece) {
      piece.lower = std::max(piece.lower, from) - from;
      piece.upper = std::min(piece.upper, to) - from;
      if (piece.lower < piece.upper) visit(piece);
    });
  };
  for (const std::span<const uint32_t> items : {free, fixed}) {
    for (const uint32_t item : items)
      each_piece(item,
                 [&](const Piece& piece) { slots[static_cast<size_t>(piece.lower) + 1] = 1; });
  }
  for (size_t s = 1; s < slots.size(); ++s) slots[s] += slots[s - 1];
  part.slot_count = slots.back();
  if (!core.is_whole()) part.piece_begins.push_back(0);
  const auto add = [&](uint32_t item, int64_t pin) {
    Item copy = core.items[item];
    copy.lower = INT32_MAX;
    copy.upper = 0;
    each_piece(item, [&](Piece piece) {
      piece.lower = slots[static_cast<size_t>(piece.lower)];
      piece.upper = slots[static_cast<size_t>(piece.upper)];
      copy.lower = std::min(copy.lower, piece.lower);
      copy.upper = std::max(copy.upper, piece.upper);
      if (!core.is_whole()) part.pieces.push_back(piece);
    });
    if (copy.upper == 0) return false;
    if (!core.is_whole()) part.piece_begins.push_back(static_cast<uint32_t>(part.pieces.size()));
    part.items.push_back(copy);
    part.durations.push_back(core.durations[item]);
    part.pins.push_back(pin);
    return true;
  };
  for (const uint32_t item : free) {
    if (add(item, core.is_pinned(item) ? core.pins[item] : -1)) window.items.push_back(item);
  }
  // What lies there all the time, one above the other, is one block.
  std::vector<uint32_t> by_offset(fixed.begin(), fixed.end());
  std::ranges::sort(by_offset, {}, [&](uint32_t item) { return offsets[item]; });
  uint32_t block = kNone;
  for (const uint32_t item : by_offset) {
    const bool is_throughout =
        core.is_whole() && core.items[item].lower <= from && core.items[item].upper >= to;
    if (is_throughout && block != kNone &&
        part.pins[block] + part.items[block].room == offsets[item]) {
      part.items[block].size = part.items[block].room + core.items[item].size;
      part.items[block].room += core.items[item].room;
      continue;
    }
    if (!add(item, offsets[item])) continue;
    if (is_throughout) block = static_cast<uint32_t>(part.items.size()) - 1;
  }
  return window;
}

}  // namespace stowplan::pack
