// SPDX-License-Identifier: Apache-2.0
// The first stage: a problem made smaller and plainer, and plans brought back.
//
// - Buffers without bytes are left out; groups become one item.
// - A pair that must be apart is alive together in a slot of its own.
// - Where all alignments are one, sizes are rounded up to it: nothing else could use the rest.
// - Bytes become units, the greatest that all sizes, alignments and pins are multiples of.
#pragma once

#include "pack/core.h"

namespace stowplan::pack {

struct Reduced {
  Core core;
  std::vector<uint32_t> items;  // by buffer; kNone when it needs no place
  int64_t unit = 1;             // bytes
  // How much lower than a plan of the core a plan of the problem may be, in bytes: what rounding
  // has added to the highest item.
  int64_t rounding = 0;
  // Whether the core has a plan of a height whenever the problem has one. Not so where something
  // could lie beneath the bytes that a buffer needs in a gap: solvers do not look there.
  bool is_exact = true;
};

// Needs a sound problem without pools.
Reduced Reduce(const Problem& problem);

// A plan of the problem from offsets by item.
Plan Expand(const Problem& problem, const Reduced& reduced, std::span<const int64_t> offsets);

// The height in units that a capacity in bytes leaves to plans of the core.
int64_t ToUnits(const Reduced& reduced, int64_t capacity);

}  // namespace stowplan::pack
