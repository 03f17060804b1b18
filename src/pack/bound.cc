// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "pack/pieces.h"
#include "stowplan/pack/problem.h"

namespace stowplan::pack {
namespace {

// The load changes by so much.
struct Event {
  int64_t time;
  int64_t change;
};

// The bytes that some of a group's members need.
class Union {
 public:
  void Change(const BufferPiece& piece, bool is_begin) {
    // Most pieces begin where the buffer does, and of these only the longest counts.
    std::multiset<std::pair<int64_t, int64_t>>& pieces = piece.low == 0 ? from_zero_ : others_;
    const std::pair<int64_t, int64_t> range =
        piece.low == 0 ? std::pair(piece.high, int64_t{0}) : std::pair(piece.low, piece.high);
    if (is_begin) {
      pieces.insert(range);
    } else {
      pieces.erase(pieces.find(range));
    }
  }

  [[nodiscard]] int64_t bytes() const {
    int64_t top = from_zero_.empty() ? 0 : from_zero_.rbegin()->first;
    int64_t sum = top;
    for (const auto& [low, high] : others_) {
      if (high <= top) continue;
      sum += high - std::max(low, top);
      top = high;
    }
    return sum;
  }

 private:
  std::multiset<std::pair<int64_t, int64_t>> from_zero_;  // (high, 0)
  std::multiset<std::pair<int64_t, int64_t>> others_;     // (low, high)
};

void AppendGroup(const Problem& problem, const std::vector<uint32_t>& group,
                 std::vector<Event>& events) {
  struct Change {
    BufferPiece piece;
    bool is_begin;
  };
  std::multimap<int64_t, Change> changes;
  for (const uint32_t member : group) {
    const auto gaps = std::ranges::equal_range(problem.gaps, member, {}, &Gap::buffer);
    EachPiece(problem.buffers[member], gaps, [&](const BufferPiece& piece) {
      changes.emplace(piece.start, Change{piece, true});
      changes.emplace(piece.end, Change{piece, false});
    });
  }
  Union alive;
  int64_t bytes = 0;
  for (auto it = changes.begin(); it != changes.end();) {
    const int64_t time = it->first;
    for (; it != changes.end() && it->first == time; ++it)
      alive.Change(it->second.piece, it->second.is_begin);
    const int64_t now = alive.bytes();
    if (now != bytes) events.push_back({time, now - bytes});
    bytes = now;
  }
}

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
  for (const std::vector<uint32_t>& group : problem.groups) {
    AppendGroup(problem, group, events);
    for (const uint32_t member : group) is_grouped[member] = true;
  }
  GapCursor gaps(problem);
  for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
    if (!is_grouped.empty() && is_grouped[b]) continue;
    EachPiece(problem.buffers[b], gaps.Of(b), [&](const BufferPiece& piece) {
      events.push_back({piece.start, piece.high - piece.low});
      events.push_back({piece.end, piece.low - piece.high});
    });
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
