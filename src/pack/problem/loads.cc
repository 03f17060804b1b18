// SPDX-License-Identifier: Apache-2.0
#include "pack/problem/loads.h"

#include <algorithm>

#include "pack/problem/pieces.h"

namespace stowplan::pack {
namespace {

// The load changes by so much.
struct Event {
  int64_t time;
  int64_t change;
};

// Adds up what happens at one time, where times are few enough to be counted: sooner than sorting.
bool AddUp(std::vector<Event>& events) {
  if (events.empty()) return true;
  const auto [first, last] = std::ranges::minmax(events, {}, &Event::time);
  int64_t range = 0;
  if (__builtin_sub_overflow(last.time, first.time, &range) ||
      static_cast<uint64_t>(range) > events.size())
    return false;
  std::vector<int64_t> changes(static_cast<size_t>(range) + 1);
  const int64_t begin = first.time;
  for (const Event& event : events)
    changes[static_cast<size_t>(event.time - begin)] += event.change;
  events.clear();
  for (size_t t = 0; t < changes.size(); ++t)
    if (changes[t] != 0) events.push_back({begin + static_cast<int64_t>(t), changes[t]});
  return true;
}

std::vector<Event> SortedEvents(const Problem& problem) {
  std::vector<bool> is_grouped;
  if (!problem.groups.empty()) is_grouped.resize(problem.buffers.size());
  std::vector<Event> events;
  events.reserve(2 * (problem.buffers.size() + problem.gaps.size()));
  const auto add = [&](const BufferPiece& piece) {
    events.push_back({piece.start, piece.high - piece.low});
    events.push_back({piece.end, piece.low - piece.high});
  };
  for (const std::vector<uint32_t>& group : problem.groups) {
    for (const BufferPiece& piece : GroupPieces(problem, group)) add(piece);
    for (const uint32_t member : group) is_grouped[member] = true;
  }
  GapCursor gaps(problem);
  for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
    if (!is_grouped.empty() && is_grouped[b]) continue;
    EachPiece(problem.buffers[b], gaps.Of(b), add);
  }
  if (AddUp(events)) return events;
  // At one time, ends come first.
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.change < b.change;
  });
  return events;
}

}  // namespace

LoadBound FindLoadBound(const Problem& problem) {
  LoadBound bound;
  int64_t load = 0;
  for (const Event& event : SortedEvents(problem)) {
    load += event.change;
    if (load > bound.bytes) bound = {load, event.time};
  }
  return bound;
}

std::vector<LoadStep> FindLoads(const Problem& problem) {
  std::vector<LoadStep> steps;
  int64_t load = 0;
  for (const Event& event : SortedEvents(problem)) {
    load += event.change;
    if (!steps.empty() && steps.back().time == event.time) {
      steps.back().bytes = load;
    } else {
      steps.push_back({event.time, load});
    }
  }
  return steps;
}

}  // namespace stowplan::pack
