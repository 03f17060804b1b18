// SPDX-License-Identifier: Apache-2.0
// The first stage: a problem made smaller and plainer, and plans brought back.
//
// - Buffers without bytes are left out; groups become one item.
// - A pair that must be apart is alive together in a slot of its own.
// - Where all alignments are one, items take room in multiples of it: no other could use the rest.
// - Bytes become units, the greatest that all sizes, alignments and pins are multiples of.
#pragma once

#include "pack/solve/core.h"

namespace stowplan::pack {

struct Reduced {
  Core core;
  std::vector<uint32_t> items;  // by buffer; kNone when it needs no place
  int64_t unit = 1;             // bytes
};

// Needs a sound problem without pools.
Reduced Reduce(const Problem& problem);

// A plan of the problem from offsets by item.
Plan Expand(const Problem& problem, const Reduced& reduced, std::span<const int64_t> offsets);

}  // namespace stowplan::pack
