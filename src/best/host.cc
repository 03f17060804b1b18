// SPDX-License-Identifier: Apache-2.0
#include "best/host.h"

#include <algorithm>
#include <limits>

#include "base/checked_math.h"

namespace stowplan {
namespace {

// What a resident is to a unit, in time.
enum class Meeting : uint8_t {
  kNone,
  kHandover,  // one ends at the instant at which the other begins, and may be written over
  kClash,
};

Meeting MeetingOf(const Host::Resident& resident, const Unit& unit, const LiveRanges& live,
                  ShareRules& share, int64_t& looks) {
  const Segment hull = unit.hull();
  ++looks;
  if (resident.range.end < hull.start || resident.range.start >= hull.end) return Meeting::kNone;
  Meeting meeting = Meeting::kNone;
  for (const ValueId id : unit.values) {
    const LiveRange& range = live.of(id);
    ++looks;
    if (resident.range.end < range.start || range.end < resident.range.start) continue;
    const bool is_handed_on =
        (range.end == resident.range.start && share.CanShareAsOperand(resident.value, id)) ||
        (resident.range.end == range.start && share.CanShareAsOperand(id, resident.value));
    if (!is_handed_on) return Meeting::kClash;
    meeting = Meeting::kHandover;
  }
  return meeting;
}

struct Bytes {
  int64_t begin = 0;
  int64_t end = 0;
};

bool Touch(const Bytes& a, const Bytes& b) { return a.begin < b.end && b.begin < a.end; }

// The smallest gap in which an aligned offset leaves room for `size`.
std::optional<int64_t> SmallestGap(std::vector<Bytes> taken, int64_t host_size, int64_t size,
                                   int64_t alignment) {
  std::ranges::sort(taken, {}, &Bytes::begin);
  taken.push_back({host_size, host_size});
  std::optional<int64_t> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t at = 0;
  for (const Bytes& bytes : taken) {
    const std::optional<int64_t> offset = CheckedRoundUp(at, alignment);
    if (offset && *offset <= bytes.begin && bytes.begin - *offset >= size &&
        bytes.begin - at < least) {
      least = bytes.begin - at;
      best = offset;
    }
    at = std::max(at, bytes.end);
  }
  return best;
}

}  // namespace

bool IsHost(const Allocation& allocation) {
  if (allocation.is_constant || allocation.is_thread_local || allocation.is_tuple ||
      allocation.is_preset)
    return false;
  if (allocation.parameter) return allocation.is_aliased_parameter;
  return allocation.is_maybe_live_out;
}

std::optional<int64_t> FindRoom(const Host& host, const Unit& unit, int64_t alignment,
                                const LiveRanges& live, ShareRules& share, int64_t& looks) {
  if (unit.size > host.size) return std::nullopt;
  std::vector<Bytes> clashes;
  std::vector<Bytes> handovers;
  for (const Host::Resident& resident : host.residents) {
    const Bytes bytes = {resident.offset, resident.offset + resident.size};
    switch (MeetingOf(resident, unit, live, share, looks)) {
      case Meeting::kNone:
        break;
      case Meeting::kHandover:
        handovers.push_back(bytes);
        break;
      case Meeting::kClash:
        // Most residents fill their host.
        if (host.size - resident.size < unit.size) return std::nullopt;
        clashes.push_back(bytes);
        break;
    }
  }
  // To write over a value is to lie exactly where it lay.
  for (const Bytes& place : handovers) {
    const Bytes bytes = {place.begin, place.begin + unit.size};
    const bool is_free =
        bytes.end <= host.size &&
        std::ranges::none_of(clashes, [&](const Bytes& other) { return Touch(bytes, other); }) &&
        std::ranges::all_of(handovers, [&](const Bytes& other) {
          return other.begin == bytes.begin || !Touch(bytes, other);
        });
    if (is_free) return place.begin;
  }
  clashes.insert(clashes.end(), handovers.begin(), handovers.end());
  return SmallestGap(std::move(clashes), host.size, unit.size, alignment);
}

void MoveIn(Host& host, const Unit& unit, int64_t offset, const LiveRanges& live) {
  for (const ValueId id : unit.values)
    host.residents.push_back({id, live.of(id), offset, unit.size});
}

}  // namespace stowplan
