// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/orders.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stowplan::pack {
std::vector<uint32_t> ItemsBy(const Core& core, const Order& order,
                              std::span<const float> factors) {
  std::vector<std::pair<double, uint32_t>> values;
  values.reserve(core.items.size());
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    const double factor = factors.empty() ? 1 : static_cast<double>(factors[i]);
    const double value = std::pow(static_cast<double>(core.durations[i]), order.duration) *
                         std::pow(static_cast<double>(core.items[i].size), order.size);
    values.emplace_back(-value * factor, i);
  }
  std::ranges::sort(values);
  std::vector<uint32_t> items;
  items.reserve(values.size());
  for (const auto& [value, item] : values) items.push_back(item);
  return items;
}

}  // namespace stowplan::pack
