// SPDX-License-Identifier: Apache-2.0
// A part of a core as a core of its own. What a part needs, the whole needs at least.
#pragma once

#include "pack/solve/core.h"

namespace stowplan::pack {

// Of these items, what they need in slots [from, to); each needs something there.
Core PartOf(const Core& core, std::span<const uint32_t> items, int32_t from, int32_t to);

// Stretches of time that no item is alive across, in order. Each can be planned by itself.
struct Stretch {
  int32_t from = 0;
  int32_t to = 0;
  std::vector<uint32_t> items;
};
std::vector<Stretch> SplitInTime(const Core& core);

// The items that need something there.
std::vector<uint32_t> ItemsIn(const Core& core, int32_t from, int32_t to);

}  // namespace stowplan::pack
