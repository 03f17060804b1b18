// SPDX-License-Identifier: Apache-2.0
// What is packed: temporaries that lie in one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assign/can_share.h"
#include "buffers/buffer_set.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// Alive in [start, end). XLA's ranges include their last instant.
struct Segment {
  int64_t start = 0;
  int64_t end = 0;
};

// The values of a buffer, and of the buffers that overwrite it as it dies: a loop's value with its
// phis, a chain of elementwise instructions.
struct Unit {
  int64_t size = 0;
  std::vector<Segment> segments;  // ascending and disjoint
  std::vector<ValueId> values;

  [[nodiscard]] Segment hull() const { return {segments.front().start, segments.back().end}; }
};

struct Units {
  std::vector<Unit> units;
  std::vector<ValueId> empty;  // values without bytes
};

// XLA's heap simulation decides which value overwrites which. `sizes` are by buffer.
Units FindUnits(const hlo::Module& module, const Analysis& analysis,
                std::span<const ValueId> values, std::span<const int64_t> sizes, ShareRules& share);

// The bytes that a set of units needs at one instant, all offsets being multiples of `alignment`.
struct UnitBound {
  int64_t bytes = 0;
  int64_t time = 0;
};
UnitBound FindUnitBound(std::span<const Unit* const> units, int64_t alignment);

}  // namespace stowplan
