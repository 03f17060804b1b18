// SPDX-License-Identifier: Apache-2.0
#include "live/choose_schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "target/size.h"

namespace stowplan {
namespace {

int64_t FindPeak(const hlo::Module& module, const Analysis& analysis, const Target& target) {
  // What comes at a time, less what goes.
  std::vector<int64_t> changes(analysis.schedule.sequence.size() + 3, 0);
  for (size_t b = 0; b < analysis.buffers.size(); ++b) {
    int64_t size = 0;
    int64_t start = std::numeric_limits<int64_t>::max();
    int64_t end = -1;
    for (const ValueId id : analysis.buffers.values_of(BufferId(b))) {
      const LiveRange& range = analysis.live.of(id);
      if (!range.exists()) continue;
      size = std::max(size, ByteSize(module.shapes, analysis.flow.shape(id), target).value_or(0));
      start = std::min(start, range.start);
      end = std::max(end, range.end);
    }
    if (end < 0) continue;
    int64_t& from = changes[static_cast<size_t>(start)];
    int64_t& to = changes[static_cast<size_t>(end) + 1];
    from = SaturatingAdd(from, size);
    to = SaturatingAdd(to, -size);
  }
  int64_t load = 0;
  int64_t peak = 0;
  for (const int64_t change : changes) {
    load = SaturatingAdd(load, change);
    peak = std::max(peak, load);
  }
  return peak;
}

}  // namespace

Result<ScheduleChoice> ChooseSchedule(const hlo::Module& module, const Target& target,
                                      const AnalysisOptions& options,
                                      std::optional<Scheduler> wanted) {
  ScheduleChoice choice;
  int64_t least = 0;
  for (const Scheduler scheduler : kSchedulers) {
    if (wanted && scheduler != *wanted) continue;
    hlo::Module scheduled = WithSchedule(module, scheduler, target);
    STOWPLAN_TRY(const Analysis analysis, Analyze(scheduled, options));
    const int64_t peak = FindPeak(scheduled, analysis, target);
    choice.peaks.push_back({scheduler, peak});
    if (choice.peaks.size() > 1 && peak >= least) continue;
    choice.module = std::move(scheduled);
    choice.scheduler = scheduler;
    least = peak;
  }
  return choice;
}

}  // namespace stowplan
