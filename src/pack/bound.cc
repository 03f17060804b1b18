// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stowplan/pack/problem.h"

namespace stowplan::pack {

LoadBound FindLoadBound(const Problem& problem) {
  struct Event {
    int64_t time;
    int64_t change;
  };
  std::vector<Event> events;
  events.reserve(2 * problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.size == 0 || buffer.start >= buffer.end) continue;
    events.push_back({buffer.start, buffer.size});
    events.push_back({buffer.end, -buffer.size});
  }
  // At one time, ends come first.
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.change < b.change;
  });
  LoadBound bound;
  int64_t load = 0;
  for (const Event& event : events) {
    load += event.change;
    if (load > bound.bytes) bound = {load, event.time};
  }
  return bound;
}

}  // namespace stowplan::pack
