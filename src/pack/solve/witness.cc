// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/witness.h"

#include <algorithm>

#include "pack/solve/part.h"
#include "pack/solve/search.h"

namespace stowplan::pack {
bool NeedsMore(const Core& part, int64_t height, int64_t& nodes,
               const std::function<bool()>& should_stop) {
  const std::optional<Graph> graph = FindGraph(part, int64_t{1} << 18U);
  if (!graph) return false;
  Search search(part, *graph);
  return search.Run(height, ConfigureSearch(1, 0, 0), nodes, should_stop) == SearchResult::kProved;
}

std::vector<uint32_t> ShrinkWitness(const Core& core, std::vector<uint32_t> items, int64_t height) {
  int64_t nodes = 20000;
  // Leaves out halves, then quarters, and so on, where what is left still needs as much.
  for (size_t chunk = std::max<size_t>(items.size() / 2, 1);; chunk = (chunk + 1) / 2) {
    for (size_t at = 0; at < items.size() && nodes > 0;) {
      std::vector<uint32_t> fewer(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(at));
      fewer.insert(fewer.end(),
                   items.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, items.size())),
                   items.end());
      int64_t left = std::min<int64_t>(nodes, 2000);
      nodes -= left + 1;
      const bool is_enough =
          !fewer.empty() && NeedsMore(PartOf(core, fewer, 0, core.slot_count), height, left, {});
      nodes += left;  // what was not used
      if (is_enough) {
        items = std::move(fewer);
      } else {
        at += chunk;
      }
    }
    if (chunk == 1 || nodes <= 0) return items;
  }
}

}  // namespace stowplan::pack
