// SPDX-License-Identifier: Apache-2.0
// A part of a core as a core of its own: some slots, some items to place, others that lie already.
#pragma once

#include "pack/core.h"

namespace stowplan::pack {

struct Window {
  Core core;
  std::vector<uint32_t> items;  // the items to place, as the whole core numbers them; pins follow
};

// Slots [from, to) with the items of `free`, among those of `fixed` at their offsets.
Window MakeWindow(const Core& core, int32_t from, int32_t to, std::span<const uint32_t> free,
                  std::span<const uint32_t> fixed, std::span<const int64_t> offsets);

}  // namespace stowplan::pack
