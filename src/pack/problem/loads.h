// SPDX-License-Identifier: Apache-2.0
// The bytes that are needed at each moment. Both functions need a sound problem (mistakes.h).
#pragma once

#include <cstdint>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

LoadBound FindLoadBound(const Problem& problem);

// From `time` on, so many bytes are needed.
struct LoadStep {
  int64_t time = 0;
  int64_t bytes = 0;
  friend bool operator==(const LoadStep&, const LoadStep&) = default;
};

// The load over time; the last step is down to 0. Pools are taken together.
std::vector<LoadStep> FindLoads(const Problem& problem);

}  // namespace stowplan::pack
