// SPDX-License-Identifier: Apache-2.0
// The page of `stowplan report` for one module: where its memory goes.
#pragma once

#include <optional>
#include <string>

#include "assign/temporaries.h"
#include "report/summary.h"
#include "stowplan/base/own_code.h"
#include "stowplan/base/speech.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::page {

enum class ReportSort { kDefault, kSize, kPeak, kName, kTime };

struct PageOptions {
  std::string title;
  report::Backend backend = report::Backend::kUnknown;
  std::string backend_reason = {};         // how the backend is known
  size_t limit = 10;                       // rows per table
  int64_t min_size = 0;                    // anything smaller is not listed
  ReportSort sort = ReportSort::kDefault;  // of the values
  Speech speech = Speech::kCommandLine;
  bool is_made = false;  // no plan was given, so Stowplan made it
  OwnCode own = {};      // which lines are the user's own
};

// `program` may be null.
std::string ReportPage(const report::Report& report, const report::Summary& summary,
                       const hlo::Module* program, const PageOptions& options);

std::string ReconcilePage(const report::Report& report, const report::Summary& summary,
                          const std::optional<Temporaries>& temporaries,
                          const PageOptions& options);

}  // namespace stowplan::page
