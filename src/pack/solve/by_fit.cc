// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pack/solve/fit.h"
#include "pack/solve/orders.h"
#include "pack/solve/race.h"

namespace stowplan::pack {

// Where valleys do not know the shapes of items, or where they lie, this comes first. Elsewhere it
// is of use now and then only, as the way of XLA: then its two orders are tried, once.
void SolveByFit(Race& race) {
  const Core& core = race.core();
  const bool is_plain = core.is_whole() && core.pins.empty();
  if (race.round() != (is_plain ? 1 : 0) || race.graph() == nullptr) return;
  std::vector<uint32_t> order;
  const auto take = [&](FitRule rule) {
    race.Take(FitInOrder(core, *race.graph(), order, rule));
    race.Spend(static_cast<int64_t>(core.items.size()) / 4 + 1);
    return !race.IsOver();
  };
  if (is_plain) {
    for (const Order& by : {kBySize, kByDuration}) {
      order = ItemsBy(core, by);
      if (!take(FitRule::kTightest)) return;
    }
    return;
  }
  // As the best plan lies now: what others have left beneath an item, it falls into.
  if (race.has_plan()) {
    order = ItemsBy(core, kBySize);
    const std::vector<int64_t> offsets(race.offsets().begin(), race.offsets().end());
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return offsets[i]; });
    if (!take(FitRule::kLowest)) return;
  }
  for (const Order& by :
       {kByDurationRootSize, kByArea, kByDuration, kByRootDurationSize, kBySize}) {
    order = ItemsBy(core, by);
    if (!take(FitRule::kLowest) || !take(FitRule::kTightest)) return;
  }
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return core.items[i].lower; });
  take(FitRule::kTightest);
}

}  // namespace stowplan::pack
