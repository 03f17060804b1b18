// SPDX-License-Identifier: Apache-2.0
// Items put down one after the other, each into a gap between those that lie there.
#pragma once

#include "pack/solve/core.h"
#include "pack/solve/graph.h"

namespace stowplan::pack {

enum class FitRule : uint8_t {
  kLowest,    // the first gap that is large enough
  kTightest,  // the smallest such gap
};

// Offsets by item. Pinned items lie where they must, before all others.
std::vector<int64_t> FitInOrder(const Core& core, const Graph& graph,
                                std::span<const uint32_t> order, FitRule rule);

}  // namespace stowplan::pack
