// SPDX-License-Identifier: Apache-2.0
#include "explain/xla_peak.h"

#include "base/checked_math.h"
#include "report/reconcile.h"

namespace stowplan::explain {
namespace {

report::PrintedPeak SumOf(int64_t time, const std::vector<report::PeakRow>& rows) {
  report::PrintedPeak peak{.time = time, .bytes = 0, .values = 0};
  for (const report::PeakRow& row : rows) {
    peak.bytes = SaturatingAdd(peak.bytes, row.bytes);
    ++peak.values;
  }
  return peak;
}

}  // namespace

std::optional<PeakGap> GapToXla(const Picture& picture) {
  const report::Report& report = *picture.report;
  if (!picture.peak) return std::nullopt;
  PeakGap gap;
  if (report.live_ranges->peak_time) {
    gap.xla = SumOf(*report.live_ranges->peak_time, report.live_ranges->peak);
    gap.is_printed = true;
  } else {
    const std::optional<report::XlaPeak> computed =
        report::ComputeXlaPeak(report, picture.plain_sizes, report.dialect.peak_line);
    if (!computed) return std::nullopt;
    gap.xla = SumOf(computed->time, computed->rows);
  }
  gap.peak = picture.peak->all;
  gap.live_then = report::BytesAt(picture.curves.all, gap.xla.time);
  for (const report::Curve& curve : picture.curves.spaces) {
    gap.spaces_then.push_back(
        {.color = *curve.space,
         .peak = {.bytes = report::BytesAt(curve, gap.xla.time), .time = gap.xla.time}});
  }
  gap.other_moment = gap.peak.bytes - gap.live_then;
  if (const std::optional<report::PeakSteps> steps = report::StepsAt(
          report, picture.plain_sizes, gap.xla.time, gap.xla.bytes, gap.live_then)) {
    gap.reasons = {.tuples = steps->own_shapes,
                   .unplaced = steps->unplaced,
                   .padding = steps->padding,
                   .shared = steps->shared};
  }
  return gap;
}

}  // namespace stowplan::explain
