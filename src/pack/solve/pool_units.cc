// SPDX-License-Identifier: Apache-2.0
#include "pack/solve/pool_units.h"

#include <numeric>

namespace stowplan::pack {

std::vector<Unit> FindUnits(const Problem& problem) {
  std::vector<Unit> units;
  std::vector<bool> is_grouped(problem.buffers.size());
  for (const std::vector<uint32_t>& group : problem.groups) {
    if (group.empty()) continue;
    units.push_back({.members = group});
    std::ranges::sort(units.back().members);
    for (const uint32_t member : group) is_grouped[member] = true;
  }
  for (uint32_t b = 0; b < problem.buffers.size(); ++b)
    if (!is_grouped[b]) units.push_back({.members = {b}});
  for (Unit& unit : units) {
    for (const uint32_t b : unit.members) {
      const Buffer& buffer = problem.buffers[b];
      unit.size = std::max(unit.size, buffer.size);
      unit.life = std::max(unit.life, buffer.end - buffer.start);
      const auto pin = std::ranges::lower_bound(problem.pins, b, {}, &Spot::buffer);
      if (pin != problem.pins.end() && pin->buffer == b) unit.pin = pin->offset;
      const auto choice = std::ranges::lower_bound(problem.choices, b, {}, &PoolChoice::buffer);
      if (choice == problem.choices.end() || choice->buffer != b) continue;
      if (unit.pools.empty()) unit.pools = choice->pools;
      std::erase_if(unit.pools, [&](uint32_t pool) {
        return std::ranges::find(choice->pools, pool) == choice->pools.end();
      });
    }
    if (unit.pools.empty()) {
      unit.pools.resize(problem.pools.size());
      std::iota(unit.pools.begin(), unit.pools.end(), 0U);
    }
  }
  return units;
}

}  // namespace stowplan::pack
