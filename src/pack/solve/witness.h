// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "pack/solve/core.h"

namespace stowplan::pack {

// Whether a part of a core needs more than `height`, as far as a search of `nodes` can tell, which
// are counted down.
bool NeedsMore(const Core& part, int64_t height, int64_t& nodes,
               const std::function<bool()>& should_stop);

// Of `items`, which need more than `height` as has been proved, as few as still do: a smaller
// argument for a person, or another program, to look at. Spends no more than some ten thousand
// nodes.
std::vector<uint32_t> ShrinkWitness(const Core& core, std::vector<uint32_t> items, int64_t height);

}  // namespace stowplan::pack
