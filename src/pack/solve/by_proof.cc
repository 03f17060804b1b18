// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pack/solve/part.h"
#include "pack/solve/race.h"
#include "pack/solve/witness.h"

namespace stowplan::pack {
namespace {

// Parts beyond this many items are left to the search of the whole.
constexpr size_t kMaxItems = 400;

// Whether the items need more than `height` in [from, to), as far as a small search can tell.
bool NeedMore(Race& race, std::span<const uint32_t> items, int32_t from, int32_t to, int64_t height,
              int64_t nodes) {
  int64_t left = std::min(nodes, race.effort());
  const int64_t given = left;
  const bool is_proved =
      NeedsMore(PartOf(race.core(), items, from, to), height, left, race.limits().should_stop);
  race.Spend(given - left + static_cast<int64_t>(items.size()));
  return is_proved;
}

}  // namespace

// The load is what one moment needs. A few moments around the largest one may need more, and that
// can be proved where the whole is far too large to search.
void SolveByProof(Race& race) {
  const Core& core = race.core();
  if (core.items.empty() || core.has_windows()) return;
  const std::vector<int64_t> loads = LoadsOf(core);
  const auto peak = static_cast<int32_t>(std::ranges::max_element(loads) - loads.begin());
  const int64_t nodes = int64_t{200} * (1 + std::min(race.round(), 50));
  int32_t reach = 1;
  for (int step = 0; step < 8 && !race.IsOver(); ++step, reach *= 2) {
    const int32_t from = std::max(peak - reach, 0);
    const int32_t to = std::min(peak + reach + 1, core.slot_count);
    const std::vector<uint32_t> items = ItemsIn(core, from, to);
    if (items.size() > kMaxItems) return;
    const int64_t low = std::max(race.bound(), race.limits().goal);
    if (low < race.height() && NeedMore(race, items, from, to, low, nodes)) {
      race.RaiseBound(low + 1, items);
      // As far up as it goes.
      int64_t high = race.height();
      while (race.bound() + 1 < high && !race.IsOver()) {
        const int64_t middle = race.bound() + (high - race.bound()) / 2;
        if (NeedMore(race, items, from, to, middle, nodes)) {
          race.RaiseBound(middle + 1, items);
        } else {
          high = middle;
        }
      }
    }
    if (from == 0 && to == core.slot_count) return;
  }
}

}  // namespace stowplan::pack
