// SPDX-License-Identifier: Apache-2.0
#include "report/peak.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/checked_math.h"
#include "stowplan/report/peak.h"

namespace stowplan::report {

CoveredBytes::CoveredBytes(std::span<const ByteRange> ranges) {
  places_.reserve(ranges.size() * 2);
  for (const ByteRange& range : ranges) {
    places_.push_back(range.begin);
    places_.push_back(range.end);
  }
  std::ranges::sort(places_);
  places_.erase(std::ranges::unique(places_).begin(), places_.end());
  if (places_.size() < 2) places_.clear();  // no bytes at all
  ranges_.reserve(ranges.size());
  const auto leaf_at = [&](int64_t place) {
    const auto found = std::ranges::lower_bound(places_, place);
    return static_cast<uint32_t>(found - places_.begin());
  };
  for (const ByteRange& range : ranges) {
    if (places_.empty() || range.begin == range.end) {
      ranges_.emplace_back();
    } else {
      ranges_.push_back({.begin = leaf_at(range.begin), .end = leaf_at(range.end)});
    }
  }
  if (places_.empty()) return;
  size_ = std::bit_ceil(places_.size() - 1);
  counts_.resize(size_ * 2);
  covered_.resize(size_ * 2);
}

int64_t CoveredBytes::Width(size_t node) const {
  // The leaves below the node, on the lowest level of the tree.
  const auto depth = static_cast<unsigned>(std::bit_width(size_) - std::bit_width(node));
  const size_t first = (node << depth) - size_;
  const size_t last = std::min(first + (size_t{1} << depth), places_.size() - 1);
  return first >= last ? 0 : places_[last] - places_[first];
}

void CoveredBytes::Recount(size_t node) {
  if (counts_[node] != 0) {
    covered_[node] = Width(node);
  } else {
    covered_[node] = node >= size_ ? 0 : covered_[node * 2] + covered_[node * 2 + 1];
  }
}

void CoveredBytes::Change(size_t range, int32_t by) {
  const auto [begin, end] = ranges_[range];
  if (begin == end) return;
  const auto change = [&](size_t node) {
    counts_[node] += by;
    Recount(node);
  };
  // The few nodes that together are the range, from the leaves up.
  for (size_t a = begin + size_, b = end + size_; a < b; a /= 2, b /= 2) {
    if (a % 2 == 1) change(a++);
    if (b % 2 == 1) change(--b);
  }
  for (size_t node = (begin + size_) / 2; node != 0; node /= 2) Recount(node);
  for (size_t node = (end - 1 + size_) / 2; node != 0; node /= 2) Recount(node);
}

bool IsCounted(const Report& report, const Value& value) {
  return !value.allocation.is_none() && value.has_range && value.start <= value.end &&
         !report.allocations[value.allocation].is_thread_local;
}

namespace {

// A value as a range of bytes and of time. Values that are never live have none.
struct Placed {
  ValueId value;
  uint32_t allocation = 0;
  uint32_t range = 0;  // in its allocation's CoveredBytes
};

// Values whose ranges of bytes end behind 2^63, or allocations that do together: input that cannot
// be counted.
bool FitsIn64Bits(const Report& report) {
  std::vector<int64_t> ends(report.allocations.size());
  for (const Value& value : report.values.rows()) {
    if (value.allocation.is_none()) continue;
    const std::optional<int64_t> end = CheckedAdd(value.offset, value.size);
    if (!end) return false;
    int64_t& last = ends[value.allocation.index];
    last = std::max(last, *end);
  }
  int64_t sum = 0;
  return std::ranges::none_of(ends,
                              [&](int64_t end) { return __builtin_add_overflow(sum, end, &sum); });
}

// Live bytes of one thing (an allocation, a memory space, all of them) as time goes by.
struct Level {
  int64_t live = 0;
  Peak peak;
  void Look(int64_t time) {
    if (live > peak.bytes) peak = {.bytes = live, .time = time};
  }
};

class Sweep {
 public:
  explicit Sweep(const Report& report) : report_(report) {
    std::vector<std::vector<ByteRange>> ranges(report.allocations.size());
    for (size_t i = 0; i < report.values.size(); ++i) {
      const Value& value = report.values[ValueId(i)];
      if (!IsCounted(report, value)) continue;
      std::vector<ByteRange>& own = ranges[value.allocation.index];
      placed_.push_back({.value = ValueId(i),
                         .allocation = value.allocation.index,
                         .range = static_cast<uint32_t>(own.size())});
      own.push_back({.begin = value.offset, .end = value.offset + value.size});
    }
    covered_.reserve(ranges.size());
    for (const std::vector<ByteRange>& own : ranges) covered_.emplace_back(own);
    for (const Allocation& allocation : report.allocations.rows()) {
      space_of_.push_back(&spaces_[allocation.color]);
    }
    allocations_.resize(report.allocations.size());
  }

  TruePeak Run() && {
    std::vector<Placed> starts = placed_;
    std::vector<Placed> ends = std::move(placed_);
    std::ranges::stable_sort(starts, {}, [&](const Placed& p) { return start(p); });
    std::ranges::stable_sort(ends, {}, [&](const Placed& p) { return end(p); });
    size_t ended = 0;
    for (size_t i = 0; i < starts.size();) {
      const int64_t time = start(starts[i]);
      for (; ended < ends.size() && end(ends[ended]) < time; ++ended) Change(ends[ended], false);
      const size_t first = i;
      for (; i < starts.size() && start(starts[i]) == time; ++i) Change(starts[i], true);
      // Only where something begins can there be more than before.
      for (size_t j = first; j < i; ++j) {
        allocations_[starts[j].allocation].Look(time);
        space_of_[starts[j].allocation]->Look(time);
      }
      all_.Look(time);
    }
    TruePeak peak;
    peak.all = all_.peak;
    for (const auto& [color, level] : spaces_) peak.spaces.push_back({color, level.peak});
    for (const Level& level : allocations_) peak.allocations.push_back(level.peak);
    return peak;
  }

 private:
  [[nodiscard]] int64_t start(const Placed& placed) const {
    return report_.values[placed.value].start;
  }
  [[nodiscard]] int64_t end(const Placed& placed) const { return report_.values[placed.value].end; }

  void Change(const Placed& placed, bool begins) {
    CoveredBytes& covered = covered_[placed.allocation];
    const int64_t before = covered.covered();
    if (begins) {
      covered.Add(placed.range);
    } else {
      covered.Remove(placed.range);
    }
    const int64_t more = covered.covered() - before;
    allocations_[placed.allocation].live += more;
    space_of_[placed.allocation]->live += more;
    all_.live += more;
  }

  const Report& report_;
  std::vector<Placed> placed_;
  std::vector<CoveredBytes> covered_;  // by allocation
  std::vector<Level> allocations_;
  std::map<int64_t, Level> spaces_;  // by color
  std::vector<Level*> space_of_;     // by allocation
  Level all_;
};

}  // namespace

bool HasPeak(const Report& report) {
  return report.has_assignment && report.live_ranges && !report.live_ranges->is_unavailable;
}

Result<TruePeak> ComputeTruePeak(const Report& report) {
  if (!FitsIn64Bits(report)) {
    return Fail(report.sources.empty() ? report.name : report.sources[0]->name(),
                "the bytes of its values do not fit in 64 bits");
  }
  TruePeak peak = Sweep(report).Run();
  for (const Value& value : report.values.rows()) {
    if (value.allocation.is_none() || value.has_range) continue;
    if (report.allocations[value.allocation].is_thread_local) continue;
    ++peak.values_without_range;
    // Many may share a place, so that even a sum of sound values can be too large.
    peak.bytes_without_range = CheckedAdd(peak.bytes_without_range, value.size).value_or(INT64_MAX);
  }
  return peak;
}

std::vector<LiveValue> LiveValuesAt(const Report& report, int64_t time,
                                    std::optional<int64_t> color) {
  std::vector<std::vector<ValueId>> live(report.allocations.size());
  for (size_t i = 0; i < report.values.size(); ++i) {
    const Value& value = report.values[ValueId(i)];
    if (!IsCounted(report, value) || value.start > time || value.end < time) continue;
    if (color && report.allocations[value.allocation].color != *color) continue;
    live[value.allocation.index].push_back(ValueId(i));
  }
  std::vector<LiveValue> values;
  for (std::vector<ValueId>& own : live) {
    // The youngest takes its bytes first.
    std::ranges::sort(own, std::greater(),
                      [&](ValueId id) { return std::pair(report.values[id].start, id); });
    std::vector<ByteRange> ranges;
    ranges.reserve(own.size());
    for (const ValueId id : own) {
      const Value& value = report.values[id];
      ranges.push_back({.begin = value.offset, .end = value.offset + value.size});
    }
    CoveredBytes covered(ranges);
    for (size_t i = 0; i < own.size(); ++i) {
      const int64_t before = covered.covered();
      covered.Add(i);
      values.push_back({.value = own[i], .bytes = covered.covered() - before});
    }
  }
  std::ranges::sort(values, [](const LiveValue& a, const LiveValue& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.value < b.value;
  });
  return values;
}

}  // namespace stowplan::report
