// SPDX-License-Identifier: Apache-2.0
#include "pack/problem/overlaps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "pack/problem/pieces.h"

namespace stowplan::pack {
namespace {

// Bytes in use, as ranges that are apart.
class Occupied {
 public:
  // Takes [low, high) for a buffer; or one that is in the way, and nothing changes.
  std::optional<uint32_t> Take(int64_t low, int64_t high, uint32_t buffer) {
    const auto next = ranges_.lower_bound(low);
    if (next != ranges_.end() && next->first < high) return next->second.buffer;
    if (next != ranges_.begin() && std::prev(next)->second.high > low)
      return std::prev(next)->second.buffer;
    ranges_.emplace_hint(next, low, Range{high, buffer});
    return std::nullopt;
  }
  void Free(int64_t low) { ranges_.erase(low); }

 private:
  struct Range {
    int64_t high;
    uint32_t buffer;
  };
  std::map<int64_t, Range> ranges_;  // by the first byte
};

// Whole buffers are pieces by their numbers; after them come those of buffers with gaps, and of
// groups, whose buffer is their first.
struct PartialPiece {
  uint32_t buffer;
  BufferPiece piece;
};

// Beginnings (2 * piece + 1) and ends (2 * piece) in the order of time; at one time, ends come
// first. Calls each(visit) for visit(time, event), twice where times are few enough to be counted.
template <class Each>
std::vector<uint32_t> OrderEvents(size_t count, Each each) {
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  each([&](int64_t time, uint32_t) {
    first = std::min(first, time);
    last = std::max(last, time);
  });
  std::vector<uint32_t> order(count);
  int64_t range = 0;
  if (count == 0 || __builtin_sub_overflow(last, first, &range) ||
      static_cast<uint64_t>(range) > 2 * count + 1024) {
    std::vector<std::pair<int64_t, uint32_t>> events;
    events.reserve(count);
    each([&](int64_t time, uint32_t event) { events.emplace_back(time, event); });
    std::ranges::sort(events, [](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      return a.second % 2 != b.second % 2 ? a.second % 2 < b.second % 2 : a.second < b.second;
    });
    std::ranges::transform(events, order.begin(), [](const auto& event) { return event.second; });
    return order;
  }
  std::vector<uint32_t> begins(2 * static_cast<size_t>(range) + 3);
  const auto key = [&](int64_t time, uint32_t event) {
    return 2 * static_cast<size_t>(time - first) + event % 2;
  };
  each([&](int64_t time, uint32_t event) { ++begins[key(time, event) + 1]; });
  for (size_t k = 1; k < begins.size(); ++k) begins[k] += begins[k - 1];
  each([&](int64_t time, uint32_t event) { order[begins[key(time, event)]++] = event; });
  return order;
}

// Of the group whose first is that buffer, one that is alive then, to be named.
uint32_t MemberAt(const Problem& problem, uint32_t buffer, int64_t time) {
  for (const std::vector<uint32_t>& group : problem.groups) {
    if (group.empty() || group.front() != buffer) continue;
    for (const uint32_t member : group) {
      if (problem.buffers[member].start <= time && time < problem.buffers[member].end)
        return member;
    }
  }
  return buffer;
}

}  // namespace

std::vector<Overlap> FindOverlaps(const Problem& problem, std::span<const int64_t> offsets,
                                  std::span<const uint32_t> pools, size_t limit) {
  const auto count = static_cast<uint32_t>(problem.buffers.size());
  std::vector<bool> is_grouped(problem.groups.empty() ? 0 : count);
  std::vector<PartialPiece> partial;
  for (const std::vector<uint32_t>& group : problem.groups) {
    for (const uint32_t member : group) is_grouped[member] = true;
    if (group.empty() || offsets[group.front()] < 0) continue;
    for (const BufferPiece& piece : GroupPieces(problem, group))
      partial.push_back({group.front(), piece});
  }
  const auto is_whole = [&](uint32_t b, std::span<const Gap> gaps) {
    return gaps.empty() && problem.buffers[b].size > 0 && offsets[b] >= 0 &&
           (is_grouped.empty() || !is_grouped[b]);
  };
  GapCursor gaps(problem);
  size_t whole = 0;
  for (uint32_t b = 0; b < count; ++b) {
    const std::span<const Gap> own = gaps.Of(b);
    if (is_whole(b, own)) ++whole;
    if (own.empty() || offsets[b] < 0 || (!is_grouped.empty() && is_grouped[b])) continue;
    EachPiece(problem.buffers[b], own,
              [&](const BufferPiece& piece) { partial.push_back({b, piece}); });
  }
  const std::vector<uint32_t> events = OrderEvents(2 * (whole + partial.size()), [&](auto visit) {
    GapCursor cursor(problem);
    for (uint32_t b = 0; b < count; ++b) {
      if (!is_whole(b, cursor.Of(b))) continue;
      visit(problem.buffers[b].start, 2 * b + 1);
      visit(problem.buffers[b].end, 2 * b);
    }
    for (uint32_t p = 0; p < partial.size(); ++p) {
      visit(partial[p].piece.start, 2 * (count + p) + 1);
      visit(partial[p].piece.end, 2 * (count + p));
    }
  });
  std::vector<Occupied> memories(1);
  for (const uint32_t pool : pools) memories.resize(std::max<size_t>(memories.size(), pool + 1));
  std::vector<Overlap> overlaps;
  std::set<uint32_t> refused;
  constexpr size_t kAhead = 16;
  for (size_t e = 0; e < events.size() && overlaps.size() < limit; ++e) {
    const uint32_t event = events[e];
    if (e + kAhead < events.size() && events[e + kAhead] / 2 < count) {
      // Rows are in no order of time: most of the sweep would be waiting for them.
      __builtin_prefetch(&problem.buffers[events[e + kAhead] / 2]);
      __builtin_prefetch(&offsets[events[e + kAhead] / 2]);
    }
    const uint32_t number = event / 2;
    const bool is_partial = number >= count;
    const uint32_t b = is_partial ? partial[number - count].buffer : number;
    const Buffer& buffer = problem.buffers[b];
    const BufferPiece piece = is_partial ? partial[number - count].piece
                                         : BufferPiece{buffer.start, buffer.end, 0, buffer.size};
    const int64_t low = offsets[b] + piece.low;
    const int64_t high = offsets[b] + piece.high;
    Occupied& memory = memories[pools.empty() ? 0 : pools[b]];
    if (event % 2 == 0) {
      if (refused.erase(number) == 0) memory.Free(low);
      continue;
    }
    if (const auto other = memory.Take(low, high, b)) {
      overlaps.push_back(
          {MemberAt(problem, *other, piece.start), MemberAt(problem, b, piece.start), piece.start});
      refused.insert(number);
    }
  }
  return overlaps;
}

}  // namespace stowplan::pack
