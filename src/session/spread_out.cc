// SPDX-License-Identifier: Apache-2.0
#include "session/spread_out.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assign/fast_memory.h"

namespace stowplan {
namespace {

// For each buffer that is a slice of an array made of nothing but its slices: the buffer whose
// memory the plan gives it. None for all others.
std::vector<BufferId> HostsOfSlices(const hlo::Module& module, const Analysis& analysis,
                                    const Assignment& plan) {
  const BufferSet& buffers = analysis.buffers;
  std::vector<BufferId> hosts(buffers.size());
  std::vector<uint8_t> is_host(buffers.size(), 0);
  for (size_t b = 0; b < buffers.size(); ++b) {
    for (const ValueId value : buffers.values_of(BufferId(b))) {
      const Place& whole = plan.places[value.index];
      for (const ValueId slice : SlicesOf(module, analysis.flow, value)) {
        const BufferId own = buffers.of(slice);
        const Place& place = plan.places[slice.index];
        const bool lies_in_it = !whole.allocation.is_none() &&
                                place.allocation == whole.allocation &&
                                place.offset >= whole.offset && place.size <= whole.size &&
                                place.offset - whole.offset <= whole.size - place.size;
        const bool is_free = own.index != b && hosts[own.index].is_none() &&
                             is_host[own.index] == 0 && hosts[b].is_none();
        if (!lies_in_it || !is_free) continue;
        hosts[own.index] = BufferId(b);
        is_host[b] = 1;
      }
    }
  }
  return hosts;
}

}  // namespace

Assignment SpreadOut(const hlo::Module& module, const Analysis& analysis, const Assignment& plan) {
  const std::vector<BufferId> hosts = HostsOfSlices(module, analysis, plan);
  Assignment spread = plan;
  spread.allocations = {};
  const auto place_of = [&](BufferId buffer) -> const Place& {
    return plan.places[analysis.buffers.values_of(buffer)[0].index];
  };
  for (size_t b = 0; b < analysis.buffers.size(); ++b) {
    const Place& place = place_of(BufferId(b));
    if (place.allocation.is_none() || !hosts[b].is_none()) continue;
    const std::span<const ValueId> values = analysis.buffers.values_of(BufferId(b));
    Allocation allocation = plan.allocations[place.allocation];
    allocation.values.assign(values.begin(), values.end());
    allocation.size = place.size;
    const AllocationId id = spread.allocations.Add(std::move(allocation));
    for (const ValueId value : values) spread.places[value.index] = {id, 0, place.size};
  }
  for (size_t b = 0; b < analysis.buffers.size(); ++b) {
    if (hosts[b].is_none()) continue;
    const Place& place = place_of(BufferId(b));
    const ValueId host = analysis.buffers.values_of(hosts[b])[0];
    const AllocationId id = spread.places[host.index].allocation;
    for (const ValueId value : analysis.buffers.values_of(BufferId(b))) {
      spread.places[value.index] = {id, place.offset - place_of(hosts[b]).offset, place.size};
      spread.allocations[id].values.push_back(value);
    }
  }
  return spread;
}

}  // namespace stowplan
