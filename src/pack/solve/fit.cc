// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/fit.h"

#include <algorithm>
#include <limits>

#include "pack/solve/align.h"

namespace stowplan::pack {

std::vector<int64_t> FitInOrder(const Core& core, const Graph& graph,
                                std::span<const uint32_t> order, FitRule rule) {
  std::vector<int64_t> offsets(core.items.size(), -1);
  for (uint32_t i = 0; i < core.items.size(); ++i) {
    if (core.is_pinned(i)) offsets[i] = core.pins[i];
  }
  // Where the item may not begin: [from, to).
  struct Taken {
    int64_t from;
    int64_t to;
  };
  std::vector<Taken> taken;
  for (const uint32_t i : order) {
    if (offsets[i] >= 0) continue;
    taken.clear();
    graph.EachNeighbour(core, i, [&](uint32_t other, int64_t rise, int64_t drop) {
      if (offsets[other] >= 0) taken.push_back({offsets[other] - rise + 1, offsets[other] + drop});
    });
    std::ranges::sort(taken, {}, &Taken::from);
    int64_t free = 0;  // where it may begin, so far
    int64_t best = -1;
    int64_t best_room = std::numeric_limits<int64_t>::max();
    for (const Taken& range : taken) {
      const int64_t offset = AlignUp(free, core.items[i].alignment);
      if (offset < range.from) {
        const int64_t room = range.from - free;
        if (room < best_room) {
          best = offset;
          best_room = room;
        }
        if (rule == FitRule::kLowest) break;
      }
      free = std::max(free, range.to);
    }
    offsets[i] = best >= 0 ? best : AlignUp(free, core.items[i].alignment);
  }
  return offsets;
}

}  // namespace stowplan::pack
