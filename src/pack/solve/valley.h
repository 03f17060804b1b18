// SPDX-License-Identifier: Apache-2.0
// The valley decoder: items are poured in from above, each onto the lowest flat place that it fits
// into. Near linear; a plan follows from an order of the items alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack/solve/containment_tree.h"
#include "pack/solve/core.h"

namespace stowplan::pack {

// Which corner of a valley is filled first: where one of its two walls is lower, or higher.
enum class Corner : uint8_t { kAny, kLower, kHigher };

struct ValleyRule {
  // Items that are alive at the tightest slot of the valley go first where no more than this share
  // of the goal may still be wasted.
  double tight = 0;
  Corner corner = Corner::kAny;
  bool is_corner_first = false;  // whether the corner goes before the tightest slot
  // Whether all that gives way to an item in a corner whose top is level with the wall, or that
  // covers the whole valley.
  bool is_snug = false;
};

// Those of slot s: items[begins[s]] to items[begins[s + 1]].
struct ItemsBySlot {
  std::vector<uint32_t> items;
  std::vector<uint32_t> begins;
};

// Prepared once for a core without pins, asked for several orders. An item that is not whole is
// taken for whole.
class Valleys {
 public:
  explicit Valleys(const Core& core);

  // Offsets by item. Of the items that fit into a valley and meet the rule, the one that comes
  // first in `order` is taken. `goal` is the height one hopes for.
  std::vector<int64_t> Decode(std::span<const uint32_t> order, const ValleyRule& rule,
                              int64_t goal);

 private:
  class Pouring;
  const Core& core_;
  ContainmentTree tree_;
  std::vector<int64_t> loads_;  // by slot
  // Items that begin in a slot, or end before it.
  ItemsBySlot beginning_;
  ItemsBySlot ending_;
};

}  // namespace stowplan::pack
