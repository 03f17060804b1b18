// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/part.h"

#include <algorithm>
#include <numeric>

namespace stowplan::pack {
namespace {

// Calls visit(piece) for what an item needs in [from, to), with slots counted from there.
template <class Visit>
void EachPieceIn(const Core& core, uint32_t item, int32_t from, int32_t to, Visit visit) {
  core.EachPiece(item, [&](Piece piece) {
    piece.lower = std::max(piece.lower, from) - from;
    piece.upper = std::min(piece.upper, to) - from;
    if (piece.lower < piece.upper) visit(piece);
  });
}

}  // namespace

Core PartOf(const Core& core, std::span<const uint32_t> items, int32_t from, int32_t to) {
  Core part;
  part.rounding = core.rounding;
  // Slots at which something begins here: how many there are before each.
  std::vector<int32_t> slots(static_cast<size_t>(to - from) + 1, 0);
  for (const uint32_t item : items) {
    EachPieceIn(core, item, from, to,
                [&](const Piece& piece) { slots[static_cast<size_t>(piece.lower) + 1] = 1; });
  }
  for (size_t s = 1; s < slots.size(); ++s) slots[s] += slots[s - 1];
  part.slot_count = slots.back();
  if (!core.is_whole()) part.piece_begins.push_back(0);
  for (const uint32_t item : items) {
    Item& copy = part.items.emplace_back(core.items[item]);
    copy.lower = part.slot_count;
    copy.upper = 0;
    EachPieceIn(core, item, from, to, [&](Piece piece) {
      piece.lower = slots[static_cast<size_t>(piece.lower)];
      piece.upper = slots[static_cast<size_t>(piece.upper)];
      copy.lower = std::min(copy.lower, piece.lower);
      copy.upper = std::max(copy.upper, piece.upper);
      if (!core.is_whole()) part.pieces.push_back(piece);
    });
    if (!core.is_whole()) part.piece_begins.push_back(static_cast<uint32_t>(part.pieces.size()));
    part.durations.push_back(core.durations[item]);
    if (!core.pins.empty()) part.pins.push_back(core.pins[item]);
  }
  return part;
}

std::vector<Stretch> SplitInTime(const Core& core) {
  std::vector<uint32_t> order(core.items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return core.items[i].lower; });
  std::vector<Stretch> stretches;
  for (const uint32_t i : order) {
    const Item& item = core.items[i];
    if (stretches.empty() || item.lower >= stretches.back().to)
      stretches.push_back({.from = item.lower, .to = item.upper});
    stretches.back().to = std::max(stretches.back().to, item.upper);
    stretches.back().items.push_back(i);
  }
  return stretches;
}

std::vector<uint32_t> ItemsIn(const Core& core, int32_t from, int32_t to) {
  std::vector<uint32_t> items;
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    bool is_there = false;
    EachPieceIn(core, i, from, to, [&](const Piece&) { is_there = true; });
    if (is_there) items.push_back(i);
  }
  return items;
}

}  // namespace stowplan::pack
