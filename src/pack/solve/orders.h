// SPDX-License-Identifier: Apache-2.0
// Orders in which greedy methods look at items: by size, by duration, and between these.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/solve/core.h"

namespace stowplan::pack {

// By duration^a * size^b.
struct Order {
  double duration = 0;
  double size = 0;
};
inline constexpr Order kByDuration = {.duration = 1};
inline constexpr Order kByMostlyDuration = {.duration = 1, .size = 0.15};
inline constexpr Order kByDurationRootSize = {.duration = 1, .size = 0.5};
inline constexpr Order kByArea = {.duration = 1, .size = 1};
inline constexpr Order kByRootDurationSize = {.duration = 0.5, .size = 1};
inline constexpr Order kBySize = {.size = 1};

// The greatest first. Values are multiplied by `factors`, by item, if there are any.
std::vector<uint32_t> ItemsBy(const Core& core, const Order& order,
                              std::span<const float> factors = {});

}  // namespace stowplan::pack
