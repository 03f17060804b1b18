// SPDX-License-Identifier: Apache-2.0
#include "fit/waists.h"

#include <algorithm>
#include <numeric>

namespace stowplan::fit {
namespace {

// By version: its last reader before `end`.
std::vector<uint32_t> LastReaders(const Task& task, std::span<const Node> sequence,
                                  const Trace& trace, uint32_t end) {
  std::vector<uint32_t> last(trace.versions.size(), kAtStart);
  for (uint32_t p = 0; p < end; ++p) {
    for (const uint32_t v : trace.reads_at(task, sequence[p], p)) last[v] = p;
  }
  return last;
}

// What a few nodes make from what is there at the start, like copies of weights, is not handed on
// in the sense of a waist, though it may be in memory for long.
constexpr uint32_t kEasy = 8;

// By place: how many nodes it takes at most to compute it from what is there at the start.
std::vector<uint32_t> Efforts(const Task& task, std::span<const Node> sequence, const Trace& trace,
                              uint32_t end) {
  std::vector<uint32_t> efforts(end, 1);
  for (uint32_t p = 0; p < end; ++p) {
    for (const uint32_t v : trace.reads_at(task, sequence[p], p)) {
      const uint32_t begin = trace.versions[v].begin;
      if (begin != kAtStart) efforts[p] = std::min(efforts[p] + efforts[begin], kEasy + 1);
    }
  }
  return efforts;
}

}  // namespace

std::vector<Waist> FindWaists(const Task& task, std::span<const Node> sequence, const Trace& trace,
                              uint32_t end) {
  if (end < 3) return {};
  const std::vector<uint32_t> last = LastReaders(task, sequence, trace, end);
  std::vector<int64_t> widths(end + 1, 0);
  for (uint32_t v = 0; v < trace.versions.size(); ++v) {
    const Version& version = trace.versions[v];
    if (version.begin == kAtStart || version.begin >= end || last[v] == kAtStart) continue;
    widths[version.begin] += task.problem.lives[version.life].size;
    widths[last[v]] -= task.problem.lives[version.life].size;
  }
  std::partial_sum(widths.begin(), widths.end(), widths.begin());
  widths.resize(end);
  // The depth of a minimum is how far one must climb from it to get to a lower one: stretches grow
  // from their minima upwards, and where two meet, the shallower one ends.
  std::vector<uint32_t> by_width(end);
  std::iota(by_width.begin(), by_width.end(), 0);
  std::ranges::stable_sort(by_width, {}, [&](uint32_t p) { return widths[p]; });
  std::vector<uint32_t> parents(end, kAtStart);  // the lowest place of its stretch
  const auto find = [&](uint32_t p) {
    while (parents[p] != p) p = parents[p] = parents[parents[p]];
    return p;
  };
  std::vector<Waist> waists;
  for (const uint32_t p : by_width) {
    parents[p] = p;
    for (const uint32_t other : {p == 0 ? kAtStart : p - 1, p + 1 == end ? kAtStart : p + 1}) {
      if (other == kAtStart || parents[other] == kAtStart) continue;
      const uint32_t a = find(p);
      const uint32_t b = find(other);
      if (a == b) continue;
      const bool is_first_lower = widths[a] != widths[b] ? widths[a] < widths[b] : a < b;
      const uint32_t higher = is_first_lower ? b : a;
      parents[higher] = is_first_lower ? a : b;
      if (widths[p] > widths[higher]) waists.push_back({higher, widths[p] - widths[higher]});
    }
  }
  std::ranges::sort(waists, {}, &Waist::place);
  return waists;
}

std::vector<uint8_t> HandedOnAt(const Task& task, std::span<const Node> sequence,
                                const Trace& trace, uint32_t end,
                                std::span<const uint32_t> places) {
  const std::vector<uint32_t> last = LastReaders(task, sequence, trace, end);
  std::vector<uint8_t> is_handed_on(task.size(), 0);
  const std::vector<uint32_t> efforts = Efforts(task, sequence, trace, end);
  for (uint32_t v = 0; v < trace.versions.size(); ++v) {
    const Version& version = trace.versions[v];
    if (version.begin == kAtStart || last[v] == kAtStart || efforts[version.begin] <= kEasy)
      continue;
    // The first place at or after its begin must be before its last reader.
    const auto place = std::ranges::lower_bound(places, version.begin);
    if (place != places.end() && *place < last[v]) is_handed_on[sequence[version.begin]] = 1;
  }
  return is_handed_on;
}

}  // namespace stowplan::fit
