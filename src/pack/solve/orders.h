// SPDX-License-Identifier: Apache-2.0
// Orders in which greedy methods look at items: by size, by duration, and between these.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/solve/core.h"

namespace stowplan::pack {

enum class Order : uint8_t {
  kDurationRootSize,
  kArea,
  kDuration,
  kRootDurationSize,
  kSize,
};
inline constexpr Order kOrders[] = {Order::kDurationRootSize, Order::kArea, Order::kDuration,
                                    Order::kRootDurationSize, Order::kSize};

// The greatest first. Values are multiplied by `factors`, by item, if there are any.
std::vector<uint32_t> ItemsBy(const Core& core, Order order, std::span<const float> factors = {});

}  // namespace stowplan::pack
