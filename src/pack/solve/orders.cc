// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/orders.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stowplan::pack {
namespace {

double ValueOf(const Core& core, uint32_t item, Order order) {
  const auto size = static_cast<double>(core.items[item].size);
  const auto duration = static_cast<double>(core.durations[item]);
  switch (order) {
    case Order::kDurationRootSize:
      return duration * std::sqrt(size);
    case Order::kArea:
      return duration * size;
    case Order::kDuration:
      return duration;
    case Order::kRootDurationSize:
      return std::sqrt(duration) * size;
    case Order::kSize:
      return size;
  }
  return 0;
}

}  // namespace

std::vector<uint32_t> ItemsBy(const Core& core, Order order, std::span<const float> factors) {
  std::vector<std::pair<double, uint32_t>> values;
  values.reserve(core.items.size());
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    const double factor = factors.empty() ? 1 : static_cast<double>(factors[i]);
    values.emplace_back(-ValueOf(core, i, order) * factor, i);
  }
  std::ranges::sort(values);
  std::vector<uint32_t> items;
  items.reserve(values.size());
  for (const auto& [value, item] : values) items.push_back(item);
  return items;
}

}  // namespace stowplan::pack
