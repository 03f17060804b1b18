// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "certify/certificate.h"

namespace stowplan::certify {
namespace {

void FailUnless(bool is_so, const Buffer& buffer, const std::string& words) {
  if (!is_so) Deny("the plan is wrong: buffer " + buffer.id + " " + words);
}

void CheckOverlaps(const Certificate& c) {
  struct Event {
    int64_t time;
    bool is_begin;  // at one time, ends come first
    size_t item, piece;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < c.items.size(); ++i) {
    for (size_t p = 0; p < c.items[i].pieces.size(); ++p) {
      events.push_back({c.items[i].pieces[p].start, true, i, p});
      events.push_back({c.items[i].pieces[p].end, false, i, p});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.is_begin < b.is_begin;
  });
  std::map<std::pair<int64_t, int64_t>, int64_t>
      taken;  // (pool, first byte) to the last one's next
  for (const Event& event : events) {
    const Buffer& buffer = c.buffers[c.items[event.item].members.front()];
    const Piece& piece = c.items[event.item].pieces[event.piece];
    const std::pair key(buffer.pool, buffer.offset + piece.low);
    if (!event.is_begin) {
      taken.erase(key);
      continue;
    }
    const auto [at, is_new] = taken.emplace(key, buffer.offset + piece.high);
    const auto next = std::next(at);
    bool is_free = is_new && (next == taken.end() || next->first.first != key.first ||
                              next->first.second >= at->second);
    if (is_free && at != taken.begin()) {
      const auto before = std::prev(at);
      is_free = before->first.first != key.first || before->second <= key.second;
    }
    FailUnless(is_free, buffer, "overlaps another at time " + std::to_string(event.time));
  }
}

}  // namespace

void CheckPlan(const Certificate& c) {
  const bool has_pools = !c.capacities.empty();
  int64_t height = 0;
  for (const Buffer& buffer : c.buffers) {
    const Buffer& first = c.buffers[c.items[buffer.item].members.front()];
    FailUnless(buffer.offset >= 0, buffer, "has no place");
    FailUnless(buffer.offset % buffer.alignment == 0, buffer, "is not aligned");
    FailUnless(buffer.pin < 0 || buffer.pin == buffer.offset, buffer, "is not at its pin");
    FailUnless(first.offset == buffer.offset && first.pool == buffer.pool, buffer,
               "is not where the rest of its group is");
    const int64_t end = buffer.offset + buffer.size;
    const auto pool = static_cast<size_t>(buffer.pool);
    FailUnless(!has_pools || end <= c.capacities[pool], buffer, "is above its pool's capacity");
    FailUnless(buffer.pools.empty() || std::ranges::count(buffer.pools, buffer.pool) > 0, buffer,
               "is in a pool where it may not be");
    if (!has_pools || pool + 1 == c.capacities.size()) height = std::max(height, end);
  }
  for (const auto& [first, second] : c.apart) {
    const Buffer& a = c.buffers[static_cast<size_t>(first)];
    const Buffer& b = c.buffers[static_cast<size_t>(second)];
    FailUnless(a.pool != b.pool ||
                   std::max(a.offset, b.offset) >= std::min(a.offset + a.size, b.offset + b.size),
               a, "touches one that it must be apart from");
  }
  if (c.height != height) Deny("the plan is wrong: it is " + std::to_string(height) + " high");
  if (c.capacity && height > *c.capacity) Deny("the plan is above the capacity");
  CheckOverlaps(c);
}

}  // namespace stowplan::certify
