// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pack/fit.h"
#include "pack/orders.h"
#include "pack/race.h"

namespace stowplan::pack {

void SolveByFit(Race& race) {
  if (race.graph() == nullptr) return;
  std::vector<uint32_t> order;
  const auto take = [&](FitRule rule) {
    race.Take(FitInOrder(race.core(), *race.graph(), order, rule));
    return !race.IsOver();
  };
  // As the best plan lies now: what others have left beneath an item, it falls into.
  if (race.has_plan()) {
    order = ItemsBy(race.core(), Order::kSize);
    const std::vector<int64_t> offsets(race.offsets().begin(), race.offsets().end());
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return offsets[i]; });
    if (!take(FitRule::kLowest)) return;
  }
  for (const Order by : kOrders) {
    order = ItemsBy(race.core(), by);
    if (!take(FitRule::kLowest) || !take(FitRule::kTightest)) return;
  }
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return race.core().items[i].lower; });
  take(FitRule::kTightest);
}

}  // namespace stowplan::pack
