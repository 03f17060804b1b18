// SPDX-License-Identifier: Apache-2.0
// The valley decoder: buffers are poured in from above, each onto the lowest flat place that it
// fits into. Near linear; a plan follows from priorities alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/pack/problem.h"

namespace stowplan::pack {

// What a buffer is chosen by when several fit into a valley.
enum class Priority : uint8_t {
  kDuration,
  kDurationRootSize,
  kArea,
  kRootDurationSize,
  kSize,
};
inline constexpr Priority kPriorities[] = {Priority::kDurationRootSize, Priority::kArea,
                                           Priority::kDuration, Priority::kRootDurationSize,
                                           Priority::kSize};
std::vector<double> PrioritiesOf(const Problem& problem, Priority priority);

enum class Tightness : uint8_t {
  kPlain,
  kTight,  // buffers that are alive when the load is nearest to `goal` go first
};

// `goal` is the height one hopes for: the load bound.
Plan DecodeValleys(const Problem& problem, std::span<const double> priorities, Tightness tightness,
                   int64_t goal);

}  // namespace stowplan::pack
