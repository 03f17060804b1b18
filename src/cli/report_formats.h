// SPDX-License-Identifier: Apache-2.0
// One module's report as the text that --format asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/listener.h"
#include "cli/report_load.h"
#include "cli/report_page.h"

namespace stowplan::cli {

enum class ReportFormat { kText, kXla, kJson, kCsv, kMinimalloc, kProto };

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string module;
  ReportFormat format = ReportFormat::kText;
  std::string dialect;  // empty: the report's own
  std::string target;   // empty: guessed
  std::string version;  // of XLA, by whose rules a module without a plan is planned; empty: found
  std::string part;     // empty: all that there are
  std::string table;
  std::string allocation;  // empty: the largest of the temporaries
  std::string output;
  std::optional<size_t> limit;
  int64_t min_size = 0;
  ReportSort sort = ReportSort::kDefault;
  bool is_strict = false;
  bool is_reconcile = false;
};

// For a machine as told, or as the report shows it when `target` is empty.
PageOptions PageOptionsFor(const std::string& name, const report::Report& report,
                           const std::string& target);

// Nothing when the report lacks what the format needs; then the listener has been told why.
std::optional<std::string> TextFor(const LoadedModule& loaded, const ReportOptions& options,
                                   Listener& listener);

}  // namespace stowplan::cli
