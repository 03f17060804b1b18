// SPDX-License-Identifier: Apache-2.0
#include "stowplan/explain/moment.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/peak.h"

namespace stowplan::explain {

using report::ByteRange;
using report::CoveredBytes;

Moment MomentAt(const Picture& picture, int64_t time, std::optional<int64_t> space) {
  Moment moment{.time = time, .space = space, .bytes = 0, .shares = {}};
  for (const report::LiveValue& live : report::LiveValuesAt(*picture.report, time, space)) {
    // Padding stands behind the data: a value that shares its place loses that first.
    const ValueFact& fact = picture.fact(live.value);
    const int64_t plain = fact.plain.value_or(live.bytes);
    moment.shares.push_back({.value = live.value,
                             .bytes = live.bytes,
                             .padding = std::max<int64_t>(0, live.bytes - plain)});
    moment.bytes += live.bytes;
  }
  return moment;
}

namespace {

// A value begins or has ended.
struct Event {
  int64_t time = 0;
  bool begins = false;
  uint32_t allocation = 0;
  uint32_t range = 0;  // in its allocation's CoveredBytes
};

// Live bytes of one memory space, or of all, as time goes by.
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

}  // namespace

Curves CurvesOf(const report::Report& report) {
  std::vector<std::vector<ByteRange>> ranges(report.allocations.size());
  std::vector<Event> events;
  for (const report::Value& value : report.values.rows()) {
    if (!report::IsCounted(report, value)) continue;
    std::vector<ByteRange>& own = ranges[value.allocation.index];
    const Event event{.time = value.start,
                      .begins = true,
                      .allocation = value.allocation.index,
                      .range = static_cast<uint32_t>(own.size())};
    events.push_back(event);
    if (value.end != INT64_MAX) {
      events.push_back({.time = value.end + 1,
                        .begins = false,
                        .allocation = event.allocation,
                        .range = event.range});
    }
    own.push_back({.begin = value.offset, .end = value.offset + value.size});
  }
  std::ranges::stable_sort(events, {}, &Event::time);
  std::vector<CoveredBytes> covered;
  covered.reserve(ranges.size());
  for (const std::vector<ByteRange>& own : ranges) covered.emplace_back(own);

  Level all;
  std::map<int64_t, Level> spaces;
  std::vector<Level*> space_of;
  for (const report::Allocation& allocation : report.allocations.rows()) {
    Level& level = spaces[allocation.color];
    level.curve.space = allocation.color;
    space_of.push_back(&level);
  }
  std::vector<Level*> changed;
  for (size_t i = 0; i < events.size();) {
    const int64_t time = events[i].time;
    changed.clear();
    for (; i < events.size() && events[i].time == time; ++i) {
      const Event& event = events[i];
      CoveredBytes& bytes = covered[event.allocation];
      const int64_t before = bytes.covered();
      if (event.begins) {
        bytes.Add(event.range);
      } else {
        bytes.Remove(event.range);
      }
      const int64_t more = bytes.covered() - before;
      if (more == 0) continue;
      Level* const space = space_of[event.allocation];
      space->live += more;
      all.live += more;
      if (changed.empty() || changed.back() != space) changed.push_back(space);
    }
    for (Level* const space : changed) space->Record(time);
    all.Record(time);
  }
  Curves curves;
  curves.all = std::move(all.curve);
  for (auto& [color, level] : spaces) curves.spaces.push_back(std::move(level.curve));
  return curves;
}

int64_t BytesAt(const Curve& curve, int64_t time) {
  const auto after = std::ranges::upper_bound(curve.steps, time, {}, &Step::time);
  return after == curve.steps.begin() ? 0 : std::prev(after)->bytes;
}

}  // namespace stowplan::explain
