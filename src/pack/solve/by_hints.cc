// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pack/solve/fit.h"
#include "pack/solve/orders.h"
#include "pack/solve/race.h"

namespace stowplan::pack {
namespace {

// Whether the hints are a plan.
bool IsPlan(const Core& core, const Graph& graph) {
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    const int64_t offset = core.hints[i];
    if (offset < 0 || offset % core.items[i].alignment != 0) return false;
    if (core.is_pinned(i) && offset != core.pins[i]) return false;
    bool is_apart = true;
    graph.EachNeighbour(core, i, [&](uint32_t other, int64_t rise, int64_t drop) {
      is_apart =
          is_apart && (core.hints[other] >= offset + rise || core.hints[other] + drop <= offset);
    });
    if (!is_apart) return false;
  }
  return true;
}

}  // namespace

void SolveByHints(Race& race) {
  const Core& core = race.core();
  if (race.round() != 0 || core.hints.empty() || race.graph() == nullptr) return;
  if (IsPlan(core, *race.graph())) race.Take(core.hints);
  // From below, in the order of the hints; those without come last, the largest first.
  std::vector<uint32_t> order = ItemsBy(core, kByArea);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) {
    return core.hints[i] < 0 ? std::numeric_limits<int64_t>::max() : core.hints[i];
  });
  race.Take(FitInOrder(core, *race.graph(), order, FitRule::kLowest));
}

}  // namespace stowplan::pack
