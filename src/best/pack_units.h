// SPDX-License-Identifier: Apache-2.0
// Translates units into the packer's numbers and back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "best/best.h"
#include "best/unit.h"

namespace stowplan {

struct UnitPlan {
  std::vector<int64_t> offsets;  // by unit
  int64_t height = 0;
  int64_t bound = 0;  // no plan is lower
  // When this much is needed; none if the search has gone through all lower plans.
  std::optional<int64_t> bound_time;
};

// `capacity` is what the plan should fit into: if the plan is above it, a search for one that is
// not follows. None if the packer refuses the units, whose sizes together must fit in 64 bits.
std::optional<UnitPlan> PackUnits(std::span<const Unit* const> units, int64_t alignment,
                                  const UnitBound& bound, std::optional<int64_t> capacity,
                                  const BestOptions& best);

}  // namespace stowplan
