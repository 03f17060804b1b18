// SPDX-License-Identifier: Apache-2.0
#include "pack/problem/pieces.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stowplan::pack {
namespace {

using Range = std::pair<int64_t, int64_t>;  // bytes [first, second)

// The bytes that some of the members need.
class Union {
 public:
  void Change(const BufferPiece& piece, bool is_begin) {
    // Most pieces begin where the buffer does, and of these only the longest counts.
    if (piece.low == 0) {
      Change(piece.high, is_begin, highs_);
    } else {
      Change(Range(piece.low, piece.high), is_begin, others_);
    }
  }

  [[nodiscard]] std::vector<Range> ranges() const {
    std::vector<Range> ranges;
    if (!highs_.empty()) ranges.emplace_back(0, *highs_.rbegin());
    for (const auto& [low, high] : others_) {
      if (!ranges.empty() && low <= ranges.back().second) {
        ranges.back().second = std::max(ranges.back().second, high);
      } else {
        ranges.emplace_back(low, high);
      }
    }
    return ranges;
  }

 private:
  template <class Key>
  static void Change(const Key& key, bool is_begin, std::multiset<Key>& keys) {
    if (is_begin) {
      keys.insert(key);
    } else {
      keys.erase(keys.find(key));
    }
  }

  std::multiset<int64_t> highs_;
  std::multiset<Range> others_;
};

}  // namespace

std::vector<BufferPiece> GroupPieces(const Problem& problem, const std::vector<uint32_t>& group) {
  struct Event {
    int64_t time;
    bool is_begin;
    BufferPiece piece;
  };
  std::vector<Event> events;
  for (const uint32_t member : group) {
    const auto gaps = std::ranges::equal_range(problem.gaps, member, {}, &Gap::buffer);
    EachPiece(problem.buffers[member], gaps, [&](const BufferPiece& piece) {
      events.push_back({piece.start, true, piece});
      events.push_back({piece.end, false, piece});
    });
  }
  std::ranges::sort(events, {}, &Event::time);
  std::vector<BufferPiece> pieces;
  Union alive;
  std::vector<Range> ranges;
  int64_t since = 0;  // when they became what they are
  for (size_t e = 0; e < events.size();) {
    const int64_t time = events[e].time;
    // Within one moment, what begins is there before what ends is looked for.
    for (size_t k = e; k < events.size() && events[k].time == time; ++k)
      if (events[k].is_begin) alive.Change(events[k].piece, true);
    for (; e < events.size() && events[e].time == time; ++e)
      if (!events[e].is_begin) alive.Change(events[e].piece, false);
    std::vector<Range> now = alive.ranges();
    if (now == ranges) continue;
    for (const auto& [low, high] : ranges) pieces.push_back({since, time, low, high});
    ranges = std::move(now);
    since = time;
  }
  return pieces;
}

}  // namespace stowplan::pack
