// SPDX-License-Identifier: Apache-2.0
// Completes a report from its program: a .hlo.pb says where values lie, but neither when they are
// alive nor who reads them.
#pragma once

#include <cstdint>

#include "live/analysis.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::explain {

struct Completed {
  report::Report report;
  bool has_new_ranges = false;
  bool has_new_uses = false;
  int64_t strangers = 0;  // placed values that the program does not have: still without these facts
};

// Adds live ranges, and positions and uses of values, if the report has none of these. The report
// does not need the module afterwards.
[[nodiscard]] Completed Complete(report::Report report, const hlo::Module& module,
                                 const Analysis& analysis);

}  // namespace stowplan::explain
