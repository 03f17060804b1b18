// SPDX-License-Identifier: Apache-2.0
// An assignment made again from a report alone.
//
// The report tells which values there are, their shapes and memory spaces, who is read by whom, and
// who shares a place with whom (what fusions do inside, it does not tell). Sizes, live ranges, the
// order of allocations, offsets in the heaps, numbers, totals and the peak follow from that.
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
  // Where the derived facts are not those of the report.
  Diagnostics differences;
};

// The machine for which a report's sizes come out right: no value takes more than the report gives
// it, and in each place one takes all of it. Nothing when there is none.
std::optional<Target> FindReportTarget(const Report& report);

// Needs a report with an assignment, a value list and live ranges. Fails, too, when the report
// contradicts itself: times outside of the sequence, sizes that do not fit in 64 bits together,
// values that lie over each other while both are alive. Without differences, the result is written
// as the report was, byte for byte.
Result<Replan> ReplanReport(Report report, const Rules& rules);

}  // namespace stowplan::report
