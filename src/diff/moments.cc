// SPDX-License-Identifier: Apache-2.0
#include "diff/moments.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace stowplan::diff {

using explain::Moment;
using explain::Picture;
using explain::Share;
using report::ValueId;

std::vector<SameTime> SameTimes(const Picture& from, const Picture& to,
                                const std::vector<ValueId>& partners) {
  if (!from.report->live_ranges || !to.report->live_ranges) return {};
  std::vector<SameTime> times(from.report->live_ranges->sequence.size());
  for (size_t i = 0; i < partners.size(); ++i) {
    if (partners[i].is_none()) continue;
    const int64_t time = from.op_of(ValueId(i)).time;
    const int64_t same = to.op_of(partners[i]).time;
    // An instruction is known by the first of its values that has a partner.
    if (time >= 0 && same >= 0 && times[static_cast<size_t>(time)].time < 0)
      times[static_cast<size_t>(time)].time = same;
  }
  int64_t last = -1;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].time >= 0) last = static_cast<int64_t>(i);
    times[i].before = last;
  }
  last = static_cast<int64_t>(times.size());
  for (size_t i = times.size(); i-- > 0;) {
    if (times[i].time >= 0) last = static_cast<int64_t>(i);
    times[i].behind = last;
  }
  return times;
}

namespace {

// The bytes by which two moments differ, value by value. DiffOf has seen that such sums fit.
int64_t Distance(const std::unordered_map<uint32_t, int64_t>& expected, const Moment& moment) {
  int64_t sum = 0;
  int64_t found = 0;
  int64_t all = 0;
  for (const auto& [value, bytes] : expected) all += bytes;
  for (const Share& share : moment.shares) {
    const auto same = expected.find(share.value.index);
    const int64_t bytes = same == expected.end() ? 0 : same->second;
    sum += std::abs(share.bytes - bytes);
    found += bytes;
  }
  return sum + (all - found);
}

// Times of `to` to look at, the likeliest first: the instruction itself, else as far behind the
// one before, or before the one behind, as here. Both programs begin and end at the same moment.
std::vector<int64_t> Candidates(int64_t time, const Picture& to,
                                const std::vector<SameTime>& times) {
  const auto count = static_cast<int64_t>(times.size());
  const int64_t end = to.report->live_ranges->end;  // behind the last
  const int64_t at = std::clamp<int64_t>(time, 0, std::max<int64_t>(0, count - 1));
  const auto same_of = [&](int64_t i) {
    if (i < 0) return int64_t{-1};
    return i < count ? times[static_cast<size_t>(i)].time : end;
  };
  if (at == time && count != 0 && same_of(at) >= 0) return {same_of(at)};
  const int64_t before = count == 0 ? 0 : times[static_cast<size_t>(at)].before;
  const int64_t behind = count == 0 ? 0 : times[static_cast<size_t>(at)].behind;
  std::vector<int64_t> found;
  const auto add = [&](int64_t candidate) {
    candidate = std::clamp<int64_t>(candidate, 0, end);
    if (std::ranges::find(found, candidate) == found.end()) found.push_back(candidate);
  };
  add(same_of(before) + (time - before));
  add(same_of(behind) - (behind - time));
  if (found.size() == 1) return found;  // they agree
  add(same_of(before));
  add(same_of(behind));
  return found;
}

}  // namespace

Moment SameMoment(const Moment& moment, const Picture& to, const std::vector<SameTime>& times,
                  const std::vector<ValueId>& partners) {
  const std::vector<int64_t> candidates = Candidates(moment.time, to, times);
  if (candidates.size() == 1) return explain::MomentAt(to, candidates[0], moment.space);
  std::unordered_map<uint32_t, int64_t> expected;
  for (const Share& share : moment.shares) {
    const ValueId partner = partners[share.value.index];
    if (!partner.is_none()) expected[partner.index] += share.bytes;
  }
  std::optional<Moment> best;
  int64_t least = 0;
  for (const int64_t time : candidates) {
    Moment other = explain::MomentAt(to, time, moment.space);
    const int64_t distance = Distance(expected, other);
    if (best && distance >= least) continue;
    least = distance;
    best = std::move(other);
  }
  return *std::move(best);
}

}  // namespace stowplan::diff
