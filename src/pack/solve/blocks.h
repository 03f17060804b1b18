// SPDX-License-Identifier: Apache-2.0
// Items that fit together without a gap, taken for one.
//
// Two of them do when they are alive in the same slots (one goes onto the other), or when one
// begins where the other ends and both are as large (one goes after the other):
//
//     +-----------+      +-----+-----+
//     |     b     |      |  a  |  b  |
//     +-----------+      +-----+-----+
//     |     a     |
//     +-----------+
//
// The result is a block, which fits to others in turn. A plan of the blocks is a plan of the items.
// The lowest may be lost, but what is left to decide is far less: of what was cut from a rectangle
// little remains.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack/solve/core.h"

namespace stowplan::pack {

struct Blocks {
  Core core;  // its items are blocks

  // By block of any level; the first are the items that it was made of.
  struct Part {
    uint32_t first = kNone;  // kNone: an item
    uint32_t second = kNone;
    bool is_stack = false;  // the second lies on the first, not behind it
  };
  std::vector<Part> parts;
  std::vector<uint32_t> tops;  // by item of `core`: its part
  std::vector<int64_t> rooms;  // by part
};

// Whether blocks can be made: of whole items, free to move, aligned alike.
[[nodiscard]] bool CanMakeBlocks(const Core& core);

// Where an item fits to several others, `seed` has a say; 0: only reason has.
[[nodiscard]] Blocks MakeBlocks(const Core& core, uint64_t seed);

// Offsets by item, from offsets by block.
[[nodiscard]] std::vector<int64_t> OffsetsOfItems(const Blocks& blocks, size_t item_count,
                                                  std::span<const int64_t> offsets);

}  // namespace stowplan::pack
