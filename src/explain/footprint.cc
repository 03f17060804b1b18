// SPDX-License-Identifier: Apache-2.0
#include "explain/footprint.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/radix_sort.h"
#include "report/covered_bytes.h"
#include "report/peak.h"

namespace stowplan::explain {

using report::ByteRange;

namespace {

struct Covered {
  int64_t bytes = 0;
  int64_t alignment = 0;  // of the gaps
};

// What ranges cover of [0, size), and how much of each gap ends at the next multiple of `step`.
Covered Cover(std::vector<ByteRange> ranges, int64_t size, int64_t step) {
  RadixSort(ranges, [](const ByteRange& range) { return RadixKey(range.begin); });
  Covered covered;
  int64_t end = 0;
  const auto gap_until = [&](int64_t next) {
    const int64_t aligned = CheckedRoundUp(end, step).value_or(next);
    covered.alignment += std::min(next, aligned) - end;
  };
  for (const ByteRange& range : ranges) {
    if (range.begin == range.end) continue;
    if (range.begin > end) gap_until(range.begin);
    covered.bytes += std::max<int64_t>(0, range.end - std::max(range.begin, end));
    end = std::max(end, range.end);
  }
  if (size > end) gap_until(size);
  return covered;
}

ByteRange BytesOf(const report::Value& value) {
  return {.begin = value.offset, .end = value.offset + value.size};
}

// `values` are those that lie in the allocation.
Footprint SplitOf(const report::Report& report, const report::Allocation& allocation,
                  std::span<const report::ValueId> values, const report::Peak& load, int64_t live,
                  int64_t step) {
  Footprint split{.bytes = allocation.size};
  if (allocation.is_thread_local) {
    split.thread_local_bytes = allocation.size;
    return split;
  }
  split.live = live;
  split.dead = load.bytes - live;
  if (load.bytes == allocation.size) return split;
  std::vector<ByteRange> timed;
  std::vector<ByteRange> untimed;
  std::vector<ByteRange> fullest;  // and what has no time
  for (const report::ValueId id : values) {
    const report::Value& value = report.values[id];
    const bool is_timed = report::IsCounted(report, value);
    if (is_timed) timed.push_back(BytesOf(value));
    if (!value.has_range) untimed.push_back(BytesOf(value));
    if (is_timed ? value.start <= load.time && load.time <= value.end : !value.has_range)
      fullest.push_back(BytesOf(value));
  }
  if (!untimed.empty()) {
    std::vector<ByteRange> all = timed;
    all.insert(all.end(), untimed.begin(), untimed.end());
    split.untimed = Cover(std::move(all), allocation.size, 1).bytes -
                    Cover(std::move(timed), allocation.size, 1).bytes;
  }
  const int64_t rest = allocation.size - load.bytes - split.untimed;
  split.alignment = std::min(rest, Cover(std::move(fullest), allocation.size, step).alignment);
  split.fragmentation = rest - split.alignment;
  return split;
}

void Add(const Footprint& more, Footprint& sum) {
  sum.bytes += more.bytes;
  sum.live += more.live;
  sum.dead += more.dead;
  sum.fragmentation += more.fragmentation;
  sum.alignment += more.alignment;
  sum.untimed += more.untimed;
  sum.thread_local_bytes += more.thread_local_bytes;
}

// `live` is by the space's allocations.
Footprint SplitSpace(const Picture& picture, const Space& space, std::span<const int64_t> live) {
  const report::Report& report = *picture.report;
  // The values of each allocation, one after the other.
  std::vector<report::ValueId> values = space.values;
  const auto allocation_of = [&](report::ValueId value) {
    return uint64_t{report.values[value].allocation.index};
  };
  RadixSort(values, allocation_of);
  Footprint sum;
  size_t begin = 0;
  for (size_t i = 0; i < space.allocations.size(); ++i) {
    const report::AllocationId id = space.allocations[i];
    size_t end = begin;
    while (end < values.size() && allocation_of(values[end]) == id.index) ++end;
    Add(SplitOf(report, report.allocations[id], std::span(values).subspan(begin, end - begin),
                picture.peak->allocations[id.index], live[i], space.alignment),
        sum);
    begin = end;
  }
  return sum;
}

}  // namespace

Footprint FootprintOf(const Picture& picture, const Moment& moment) {
  const report::Report& report = *picture.report;
  Footprint sum;
  if (!picture.peak) return sum;
  if (moment.space) {
    const Space* const space = picture.FindSpace(*moment.space);
    if (space == nullptr) return sum;
    std::vector<int64_t> live(space->allocations.size());
    for (const Share& share : moment.shares) {
      const auto at =
          std::ranges::lower_bound(space->allocations, report.values[share.value].allocation);
      live[static_cast<size_t>(at - space->allocations.begin())] += share.bytes;
    }
    return SplitSpace(picture, *space, live);
  }
  std::vector<int64_t> live(report.allocations.size());
  for (const Share& share : moment.shares)
    live[report.values[share.value].allocation.index] += share.bytes;
  for (const Space& space : picture.spaces) {
    std::vector<int64_t> own;
    own.reserve(space.allocations.size());
    for (const report::AllocationId id : space.allocations) own.push_back(live[id.index]);
    Add(SplitSpace(picture, space, own), sum);
  }
  return sum;
}

Footprint FootprintAt(const Picture& picture, int64_t time, std::optional<int64_t> space) {
  if (!picture.peak) return {};
  return FootprintOf(picture, MomentAt(picture, time, space));
}

}  // namespace stowplan::explain
