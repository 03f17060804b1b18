// SPDX-License-Identifier: Apache-2.0
#include "report/peak.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/checked_math.h"
#include "base/radix_sort.h"
#include "report/covered_bytes.h"

namespace stowplan::report {

bool IsCounted(const Report& report, const Value& value) {
  return !value.allocation.is_none() && value.has_range && value.start <= value.end &&
         !report.allocations[value.allocation].is_thread_local;
}

namespace {

// Allocations lie one after the other, each as long as its values reach: so bytes of all of them
// have places on one line. Nothing when they do not fit in 64 bits: input that cannot be counted.
std::optional<std::vector<int64_t>> LineUp(const Report& report) {
  std::vector<int64_t> begins(report.allocations.size());
  for (const Value& value : report.values.rows()) {
    if (value.allocation.is_none()) continue;
    const std::optional<int64_t> end = CheckedAdd(value.offset, value.size);
    if (!end) return std::nullopt;
    int64_t& last = begins[value.allocation.index];
    last = std::max(last, *end);
  }
  int64_t sum = 0;
  for (int64_t& begin : begins) {
    const int64_t size = std::exchange(begin, sum);
    if (__builtin_add_overflow(sum, size, &sum)) return std::nullopt;
  }
  return begins;
}

// A value begins or has ended.
struct Event {
  int64_t time = 0;
  uint32_t allocation = 0;
  uint32_t range : 31 = 0;  // in CoveredBytes
  uint32_t begins : 1 = 0;
};

// Live bytes of a memory space, or of all, as time goes by.
struct Level {
  Curve curve;
  int64_t live = 0;

  void Record(int64_t time) {
    std::vector<Step>& steps = curve.steps;
    if (live == (steps.empty() ? 0 : steps.back().bytes)) return;
    steps.push_back({.time = time, .bytes = live});
    if (live > curve.peak.bytes) curve.peak = {.bytes = live, .time = time};
  }
};

class Sweep {
 public:
  Sweep(const Report& report, const std::vector<int64_t>& begins)
      : covered_(Place(report, begins)),
        allocations_(report.allocations.size()),
        live_(report.allocations.size()) {
    for (const Allocation& allocation : report.allocations.rows()) {
      Level& level = spaces_[allocation.color];
      level.curve.space = allocation.color;
      space_of_.push_back(&level);
    }
  }

  LiveBytes Run() && {
    std::vector<Level*> changed;
    for (size_t i = 0; i < events_.size();) {
      const int64_t time = events_[i].time;
      const size_t first = i;
      changed.clear();
      for (; i < events_.size() && events_[i].time == time; ++i) {
        Level* const space = Change(events_[i]);
        if (space != nullptr && (changed.empty() || changed.back() != space))
          changed.push_back(space);
      }
      if (changed.empty()) continue;
      for (Level* const space : changed) space->Record(time);
      all_.Record(time);
      for (size_t j = first; j < i; ++j) {
        const uint32_t allocation = events_[j].allocation;
        Peak& peak = allocations_[allocation];
        if (live_[allocation] > peak.bytes) peak = {.bytes = live_[allocation], .time = time};
      }
    }
    LiveBytes bytes;
    bytes.peak.all = all_.curve.peak;
    bytes.peak.allocations = std::move(allocations_);
    bytes.curves.all = std::move(all_.curve);
    for (auto& [color, level] : spaces_) {
      bytes.peak.spaces.push_back({color, level.curve.peak});
      bytes.curves.spaces.push_back(std::move(level.curve));
    }
    return bytes;
  }

 private:
  // Fills `events_` and `alone_`; the bytes of the other values.
  std::vector<ByteRange> Place(const Report& report, const std::vector<int64_t>& begins) {
    std::vector<ByteRange> ranges;
    ranges.reserve(report.values.size());
    events_.reserve(report.values.size() * 2);
    std::vector<uint32_t> count(report.allocations.size());
    for (const Value& value : report.values.rows()) {
      if (IsCounted(report, value)) ++count[value.allocation.index];
    }
    alone_.resize(report.allocations.size());
    for (const Value& value : report.values.rows()) {
      if (!IsCounted(report, value)) continue;
      Event event{.time = value.start,
                  .allocation = value.allocation.index,
                  .range = static_cast<uint32_t>(ranges.size()) & 0x7fffffffU,
                  .begins = 1};
      events_.push_back(event);
      if (value.end != INT64_MAX) {
        event.time = value.end + 1;
        event.begins = 0;
        events_.push_back(event);
      }
      if (count[value.allocation.index] == 1) {
        alone_[value.allocation.index] = value.size;
        ranges.emplace_back();
        continue;
      }
      const int64_t begin = begins[value.allocation.index] + value.offset;
      ranges.push_back({.begin = begin, .end = begin + value.size});
    }
    RadixSort(events_, [](const Event& event) { return RadixKey(event.time); });
    return ranges;
  }

  int64_t ChangeOf(const Event& event) {
    if (const int64_t alone = alone_[event.allocation]; alone != 0)
      return event.begins != 0 ? alone : -alone;
    const int64_t before = covered_.covered();
    if (event.begins != 0) {
      covered_.Add(event.range);
    } else {
      covered_.Remove(event.range);
    }
    return covered_.covered() - before;
  }

  // The memory space that has more or less than before; null when none has.
  Level* Change(const Event& event) {
    const int64_t more = ChangeOf(event);
    if (more == 0) return nullptr;
    live_[event.allocation] += more;
    Level* const space = space_of_[event.allocation];
    space->live += more;
    all_.live += more;
    return space;
  }

  std::vector<Event> events_;   // by time
  std::vector<int64_t> alone_;  // by allocation: the size of its only value; 0: it has others
  CoveredBytes covered_;
  std::vector<Peak> allocations_;
  std::vector<int64_t> live_;        // by allocation
  std::map<int64_t, Level> spaces_;  // by color
  std::vector<Level*> space_of_;     // by allocation
  Level all_;
};

}  // namespace

bool HasPeak(const Report& report) {
  return report.has_assignment && report.live_ranges && !report.live_ranges->is_unavailable;
}

Result<LiveBytes> ComputeLiveBytes(const Report& report) {
  const std::optional<std::vector<int64_t>> begins = LineUp(report);
  if (!begins) {
    return Fail(report.sources.empty() ? report.name : report.sources[0]->name(),
                "the bytes of its values do not fit in 64 bits");
  }
  LiveBytes bytes = Sweep(report, *begins).Run();
  TruePeak& peak = bytes.peak;
  for (const Value& value : report.values.rows()) {
    if (value.allocation.is_none() || value.has_range) continue;
    if (report.allocations[value.allocation].is_thread_local) continue;
    ++peak.values_without_range;
    // Many may share a place, so that even a sum of sound values can be too large.
    peak.bytes_without_range = CheckedAdd(peak.bytes_without_range, value.size).value_or(INT64_MAX);
  }
  return bytes;
}

Result<TruePeak> ComputeTruePeak(const Report& report) {
  STOWPLAN_TRY(LiveBytes bytes, ComputeLiveBytes(report));
  return std::move(bytes.peak);
}

int64_t BytesAt(const Curve& curve, int64_t time) {
  const auto after = std::ranges::upper_bound(curve.steps, time, {}, &Step::time);
  return after == curve.steps.begin() ? 0 : std::prev(after)->bytes;
}

namespace {

struct LivePlace {
  ByteRange bytes;  // of its allocation
  uint32_t allocation = 0;
  uint32_t row = 0;  // of the values that are live
};

// Of values of an allocation that lie over each other: the youngest takes its bytes first. `rows`
// are in the order of the table.
void ShareBytes(const Report& report, std::span<const LivePlace> places,
                std::vector<LiveValue>& rows) {
  std::vector<LivePlace> young(places.begin(), places.end());
  std::ranges::sort(young, std::greater(), [&](const LivePlace& place) {
    return std::pair(report.values[rows[place.row].value].start, place.row);
  });
  std::vector<ByteRange> ranges;
  ranges.reserve(young.size());
  for (const LivePlace& place : young) ranges.push_back(place.bytes);
  CoveredBytes covered(ranges);
  for (size_t i = 0; i < young.size(); ++i) {
    const int64_t before = covered.covered();
    covered.Add(i);
    rows[young[i].row].bytes = covered.covered() - before;
  }
}

}  // namespace

std::vector<LiveValue> LiveAmong(const Report& report, int64_t time,
                                 std::span<const ValueId> values) {
  std::vector<LiveValue> live;
  std::vector<LivePlace> places;
  for (const ValueId id : values) {
    const Value& value = report.values[id];
    if (!IsCounted(report, value) || value.start > time || value.end < time) continue;
    places.push_back({.bytes = {.begin = value.offset, .end = value.offset + value.size},
                      .allocation = value.allocation.index,
                      .row = static_cast<uint32_t>(live.size())});
    live.push_back({.value = id, .bytes = value.size});
  }
  RadixSort(places, [](const LivePlace& place) { return RadixKey(place.bytes.begin); });
  RadixSort(places, [](const LivePlace& place) { return uint64_t{place.allocation}; });
  // Most have their bytes for themselves.
  for (size_t first = 0; first < places.size();) {
    int64_t end = places[first].bytes.end;
    size_t last = first + 1;
    for (; last < places.size() && places[last].allocation == places[first].allocation &&
           places[last].bytes.begin < end;
         ++last)
      end = std::max(end, places[last].bytes.end);
    if (last - first > 1) ShareBytes(report, std::span(places).subspan(first, last - first), live);
    first = last;
  }
  RadixSort(live, [](const LiveValue& row) { return ~RadixKey(row.bytes); });
  return live;
}

std::vector<LiveValue> LiveValuesAt(const Report& report, int64_t time) {
  if (!LineUp(report)) return {};
  std::vector<ValueId> values;
  for (size_t i = 0; i < report.values.size(); ++i) {
    const Value& value = report.values[ValueId(i)];
    if (!value.allocation.is_none() && value.start <= time && value.end >= time)
      values.emplace_back(i);
  }
  return LiveAmong(report, time, values);
}

}  // namespace stowplan::report
