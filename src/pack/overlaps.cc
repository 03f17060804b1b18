// SPDX-License-Identifier: Apache-2.0
#include "pack/overlaps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "pack/pieces.h"

namespace stowplan::pack {
namespace {

// Bytes in use by buffers that are alive, as ranges that are apart. Only members of one group lie
// over each other; `count` says how many do.
struct Range {
  int64_t end = 0;
  uint32_t owner = 0;
  uint32_t count = 0;
  uint32_t buffer = 0;  // one of them, to be named
};

class Occupied {
 public:
  // Takes [low, high); or a buffer that is in the way, and nothing changes.
  std::optional<uint32_t> Take(int64_t low, int64_t high, uint32_t owner, uint32_t buffer) {
    const auto first = FirstOver(low);
    for (auto it = first; it != ranges_.end() && it->first < high; ++it)
      if (it->second.owner != owner) return it->second.buffer;
    int64_t byte = low;
    for (auto it = Split(low, high, first); byte < high;) {
      if (it == ranges_.end() || it->first > byte) {
        const int64_t end = it == ranges_.end() ? high : std::min(high, it->first);
        ranges_.emplace_hint(it, byte, Range{end, owner, 1, buffer});
        byte = end;
        continue;
      }
      ++it->second.count;
      byte = it->second.end;
      ++it;
    }
    return std::nullopt;
  }

  void Free(int64_t low, int64_t high) {
    for (auto it = Split(low, high, FirstOver(low)); it != ranges_.end() && it->first < high;)
      it = --it->second.count == 0 ? ranges_.erase(it) : std::next(it);
  }

 private:
  using Ranges = std::map<int64_t, Range>;

  // The first range that ends above `low`.
  Ranges::iterator FirstOver(int64_t low) {
    auto it = ranges_.upper_bound(low);
    if (it != ranges_.begin() && std::prev(it)->second.end > low) --it;
    return it;
  }

  // Cuts at both ends; the first range at or above `low`.
  Ranges::iterator Split(int64_t low, int64_t high, Ranges::iterator first) {
    for (auto it = first; it != ranges_.end() && it->first < high; ++it) {
      for (const int64_t at : {low, high}) {
        if (it->first >= at || it->second.end <= at) continue;
        const auto upper = ranges_.emplace_hint(std::next(it), at, it->second);
        it->second.end = at;
        if (at == low) {
          if (it == first) first = upper;
          it = upper;
        }
      }
    }
    return first;
  }

  Ranges ranges_;
};

struct Event {
  int64_t time;
  uint32_t is_begin;  // at one time, ends come first
  uint32_t piece;     // a buffer, or behind these one of those that have gaps
};

struct PartialPiece {
  uint32_t buffer;
  int64_t low;
  int64_t high;
};

}  // namespace

std::vector<Overlap> FindOverlaps(const Problem& problem, std::span<const int64_t> offsets,
                                  std::span<const uint32_t> pools, size_t limit) {
  const auto count = static_cast<uint32_t>(problem.buffers.size());
  std::vector<uint32_t> owners;  // by buffer, the first of its group; empty when all are their own
  if (!problem.groups.empty()) {
    owners.resize(count);
    for (uint32_t b = 0; b < count; ++b) owners[b] = b;
    for (const std::vector<uint32_t>& group : problem.groups)
      for (const uint32_t member : group) owners[member] = group.front();
  }
  std::vector<Event> events;
  events.reserve(2 * (problem.buffers.size() + problem.gaps.size()));
  std::vector<PartialPiece> partial;
  GapCursor gaps(problem);
  for (uint32_t b = 0; b < count; ++b) {
    if (offsets[b] < 0) continue;
    EachPiece(problem.buffers[b], gaps.Of(b), [&](const BufferPiece& piece) {
      uint32_t number = b;
      if (piece.start != problem.buffers[b].start || piece.end != problem.buffers[b].end ||
          piece.high - piece.low != problem.buffers[b].size) {
        number = count + static_cast<uint32_t>(partial.size());
        partial.push_back({b, piece.low, piece.high});
      }
      events.push_back({piece.start, 1, number});
      events.push_back({piece.end, 0, number});
    });
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.is_begin != b.is_begin ? a.is_begin < b.is_begin : a.piece < b.piece;
  });
  std::vector<Occupied> memories(1);
  for (const uint32_t pool : pools) memories.resize(std::max<size_t>(memories.size(), pool + 1));
  std::vector<Overlap> overlaps;
  std::set<uint32_t> refused;
  for (const Event& event : events) {
    if (overlaps.size() >= limit) break;
    const bool is_whole = event.piece < count;
    const uint32_t b = is_whole ? event.piece : partial[event.piece - count].buffer;
    const int64_t low = offsets[b] + (is_whole ? 0 : partial[event.piece - count].low);
    const int64_t high =
        offsets[b] + (is_whole ? problem.buffers[b].size : partial[event.piece - count].high);
    Occupied& memory = memories[pools.empty() ? 0 : pools[b]];
    if (event.is_begin == 0) {
      if (refused.erase(event.piece) == 0) memory.Free(low, high);
      continue;
    }
    if (const auto other = memory.Take(low, high, owners.empty() ? b : owners[b], b)) {
      overlaps.push_back({*other, b, event.time});
      refused.insert(event.piece);
    }
  }
  return overlaps;
}

}  // namespace stowplan::pack
