// SPDX-License-Identifier: Apache-2.0
// Makes an assignment again from a report alone.
//
// The report has the values, their shapes and memory spaces, who reads which value, and which
// values share a place (but not what happens inside fusions). Sizes, live ranges, the order of
// allocations, offsets in the heaps, numbers, totals and the peak follow from that.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assign/rules.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct Replan {
  Report report;
  // What was derived and what was taken from the report, with the reason.
  std::vector<std::string> derived;
  std::vector<std::string> taken;
  // Where the derived facts differ from the report.
  Diagnostics differences;
  // If there are differences: what decides them and is not in the report.
  std::vector<std::string> missing;
};

// The machine for which a report's sizes come out right: no value takes more than the report gives
// it, and in each place one takes all of it. Nothing when there is none.
std::optional<Target> FindReportTarget(const Report& report);

// Requires a report with an assignment, a value list and live ranges. Also fails if the report
// contradicts itself: times outside the sequence, sizes whose sum does not fit in 64 bits, values
// that overlap while both are alive. If there are no differences, the result is written exactly as
// the report was, byte for byte.
Result<Replan> ReplanReport(Report report, const Rules& rules);

}  // namespace stowplan::report
