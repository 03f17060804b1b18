// SPDX-License-Identifier: Apache-2.0
// One module's report in the format that was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "page/report_page.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan::page {

enum class ReportFormat { kText, kXla, kJson, kCsv, kMinimalloc, kProto };

struct ReportOptions {
  ReportFormat format = ReportFormat::kText;
  PlanOptions plan;             // an empty target is guessed
  std::string dialect;          // empty: the report's own
  std::string part = {};        // empty: all parts
  std::string table = {};       // csv
  std::string allocation = {};  // minimalloc; empty: the largest temporary one
  std::optional<size_t> limit = {};
  int64_t min_size = 0;
  ReportSort sort = ReportSort::kDefault;
  bool is_reconcile = false;
};

// For the given machine, or the one that the report shows if `target` is empty.
PageOptions PageOptionsFor(const std::string& name, const report::Report& report,
                           const std::string& target);

// Fails if the report lacks what the format needs. Adds warnings and notes to `notes`.
Result<std::string> TextFor(const PlannedModule& planned, const ReportOptions& options,
                            Diagnostics& notes);

}  // namespace stowplan::page
