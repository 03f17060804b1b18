// SPDX-License-Identifier: Apache-2.0
#include "stowplan/explain/footprint.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "report/peak.h"
#include "stowplan/report/peak.h"

namespace stowplan::explain {

using report::ByteRange;

int64_t AlignmentOf(const report::Report& report, int64_t space) {
  constexpr uint64_t kMost = 4096;
  uint64_t offsets = 0;
  for (const report::Value& value : report.values.rows()) {
    if (value.allocation.is_none()) continue;
    const report::Allocation& allocation = report.allocations[value.allocation];
    if (allocation.color == space && !allocation.is_thread_local)
      offsets |= static_cast<uint64_t>(value.offset);
  }
  if (offsets == 0) return 1;
  return static_cast<int64_t>(std::min(kMost, offsets & (~offsets + 1)));
}

namespace {

struct Covered {
  int64_t bytes = 0;
  int64_t alignment = 0;  // of the gaps
};

// What ranges cover of [0, size), and how much of each gap ends at the next multiple of `step`.
Covered Cover(std::vector<ByteRange> ranges, int64_t size, int64_t step) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
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
                  const std::vector<report::ValueId>& values, const report::Peak& load,
                  int64_t live, int64_t step) {
  Footprint split{.bytes = allocation.size};
  if (allocation.is_thread_local) {
    split.thread_local_bytes = allocation.size;
    return split;
  }
  split.live = live;
  split.dead = load.bytes - live;
  if (load.bytes == allocation.size) return split;
  std::vector<ByteRange> timed;
  std::vector<ByteRange> all;
  std::vector<ByteRange> fullest;  // and what has no time
  for (const report::ValueId id : values) {
    const report::Value& value = report.values[id];
    const bool is_timed = report::IsCounted(report, value);
    if (is_timed) timed.push_back(BytesOf(value));
    if (is_timed || !value.has_range) all.push_back(BytesOf(value));
    if (is_timed ? value.start <= load.time && load.time <= value.end : !value.has_range)
      fullest.push_back(BytesOf(value));
  }
  split.untimed =
      Cover(std::move(all), allocation.size, 1).bytes - Cover(timed, allocation.size, 1).bytes;
  const int64_t rest = allocation.size - load.bytes - split.untimed;
  split.alignment = std::min(rest, Cover(std::move(fullest), allocation.size, step).alignment);
  split.fragmentation = rest - split.alignment;
  return split;
}

}  // namespace

std::vector<Footprint> FootprintsAt(const Picture& picture, int64_t time) {
  const report::Report& report = *picture.report;
  std::vector<Footprint> splits(report.allocations.size());
  if (!picture.peak) return splits;
  std::vector<int64_t> live(report.allocations.size());
  for (const report::LiveValue& row : report::LiveValuesAt(report, time))
    live[report.values[row.value].allocation.index] += row.bytes;
  std::vector<std::vector<report::ValueId>> values(report.allocations.size());
  for (size_t i = 0; i < report.values.size(); ++i) {
    const report::ValueId id(i);
    if (!report.values[id].allocation.is_none())
      values[report.values[id].allocation.index].push_back(id);
  }
  std::vector<std::pair<int64_t, int64_t>> steps;  // by memory space
  for (size_t i = 0; i < splits.size(); ++i) {
    const report::Allocation& allocation = report.allocations[report::AllocationId(i)];
    auto step = std::ranges::find(steps, allocation.color, &std::pair<int64_t, int64_t>::first);
    if (step == steps.end())
      step = steps.insert(step, {allocation.color, AlignmentOf(report, allocation.color)});
    splits[i] =
        SplitOf(report, allocation, values[i], picture.peak->allocations[i], live[i], step->second);
  }
  return splits;
}

Footprint FootprintAt(const Picture& picture, int64_t time, std::optional<int64_t> space) {
  const std::vector<Footprint> splits = FootprintsAt(picture, time);
  Footprint sum;
  for (size_t i = 0; i < splits.size(); ++i) {
    if (space && picture.report->allocations[report::AllocationId(i)].color != *space) continue;
    sum.bytes += splits[i].bytes;
    sum.live += splits[i].live;
    sum.dead += splits[i].dead;
    sum.fragmentation += splits[i].fragmentation;
    sum.alignment += splits[i].alignment;
    sum.untimed += splits[i].untimed;
    sum.thread_local_bytes += splits[i].thread_local_bytes;
  }
  return sum;
}

}  // namespace stowplan::explain
