// SPDX-License-Identifier: Apache-2.0
// A plain look at a finished plan, by a sweep over time: who lies over whom while both are alive.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "assign/assignment.h"
#include "assign/contexts.h"

namespace stowplan {
namespace {

struct Event {
  int64_t time = 0;
  bool is_begin = false;  // at one time, ends come first
  ValueId value;
  friend auto operator<=>(const Event&, const Event&) = default;
};

}  // namespace

Diagnostics FindOverlaps(const hlo::Module& module, const Analysis& analysis,
                         const Assignment& assignment) {
  Diagnostics found;
  const std::string file = module.source ? module.source->name() : std::string();
  const auto complain = [&](ValueId a, ValueId b, AllocationId id) {
    const auto name = [&](ValueId value) { return module.name(analysis.flow.instruction(value)); };
    found.push_back({.file = file,
                     .message = fmt::format("in allocation {}, {} (value {}) and {} (value {}) "
                                            "share bytes while both are alive",
                                            id.index, name(a), a.index, name(b), b.index)});
  };
  for (size_t a = 0; a < assignment.allocations.size(); ++a) {
    const Allocation& allocation = assignment.allocations[AllocationId(a)];
    std::vector<Event> events;
    for (const ValueId id : allocation.values) {
      const Place& place = assignment.places[id.index];
      if (place.offset < 0 || place.size < 0 || place.size > allocation.size - place.offset) {
        found.push_back(
            {.file = file,
             .message = fmt::format("value {} lies outside allocation {}", id.index, a)});
        continue;
      }
      const LiveRange& range = analysis.live.of(id);
      // What one value leaves at a time, another may take at that time: who may, was asked before.
      // Programs of the SparseCore work in one memory, one after the other.
      if (!range.exists() || place.size == 0 || range.start == range.end || allocation.is_preset ||
          IsContext(module, analysis.flow, id))
        continue;
      events.push_back({range.start, true, id});
      events.push_back({range.end, false, id});
    }
    std::ranges::sort(events);
    // The bytes of values alive, by where they begin; they are apart.
    std::map<int64_t, ValueId> alive;
    for (const Event& event : events) {
      const Place& place = assignment.places[event.value.index];
      if (!event.is_begin) {
        const auto row = alive.find(place.offset);
        if (row != alive.end() && row->second == event.value) alive.erase(row);
        continue;
      }
      const auto next = alive.lower_bound(place.offset);
      if (next != alive.end() && next->first < place.offset + place.size) {
        complain(next->second, event.value, AllocationId(a));
        continue;
      }
      if (next != alive.begin()) {
        const Place& before = assignment.places[std::prev(next)->second.index];
        if (before.offset + before.size > place.offset) {
          complain(std::prev(next)->second, event.value, AllocationId(a));
          continue;
        }
      }
      alive.emplace(place.offset, event.value);
    }
  }
  if (found.size() > kMaxErrors) found.resize(kMaxErrors);
  return found;
}

}  // namespace stowplan
