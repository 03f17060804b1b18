// SPDX-License-Identifier: Apache-2.0
#include "best/unit.h"

#include <algorithm>
#include <set>

#include "assign/heap.h"
#include "base/checked_math.h"

namespace stowplan {
namespace {

// Sorts, and joins what touches.
std::vector<Segment> Merged(std::vector<Segment> segments) {
  std::ranges::sort(segments, {}, &Segment::start);
  std::vector<Segment> merged;
  for (const Segment& segment : segments) {
    if (!merged.empty() && segment.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, segment.end);
    } else {
      merged.push_back(segment);
    }
  }
  return merged;
}

}  // namespace

Units FindUnits(const hlo::Module& module, const Analysis& analysis,
                std::span<const ValueId> values, std::span<const int64_t> sizes,
                ShareRules& share) {
  HeapInput heap = SimulateHeap(module, analysis, values, sizes, share);
  Units found = {.units = {}, .empty = std::move(heap.empty)};
  found.units.reserve(heap.groups.size());
  for (HeapGroup& group : heap.groups) {
    std::vector<Segment> segments;
    for (const ValueId id : group.values) {
      const LiveRange& range = analysis.live.of(id);
      segments.push_back({range.start, range.end + 1});
    }
    found.units.push_back({.size = group.size,
                           .segments = Merged(std::move(segments)),
                           .values = std::move(group.values)});
  }
  return found;
}

// All that is alive at an instant lies one above the other; all but the highest take their size
// rounded up.
UnitBound FindUnitBound(std::span<const Unit* const> units, int64_t alignment) {
  struct Event {
    int64_t time = 0;
    bool is_begin = false;  // at one time, ends come first
    int64_t size = 0;
  };
  std::vector<Event> events;
  for (const Unit* unit : units) {
    for (const Segment& segment : unit->segments) {
      events.push_back({segment.start, true, unit->size});
      events.push_back({segment.end, false, unit->size});
    }
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.is_begin < b.is_begin;
  });
  UnitBound bound;
  int64_t load = 0;
  std::multiset<int64_t> slacks;  // what rounding up adds, of those alive
  for (const Event& event : events) {
    const int64_t rounded = *CheckedRoundUp(event.size, alignment);
    if (event.is_begin) {
      load += rounded;
      slacks.insert(rounded - event.size);
      if (const int64_t needed = load - *slacks.rbegin(); needed > bound.bytes)
        bound = {needed, event.time};
    } else {
      load -= rounded;
      slacks.erase(slacks.find(rounded - event.size));
    }
  }
  return bound;
}

}  // namespace stowplan
