// SPDX-License-Identifier: Apache-2.0
// The figures of `stowplan report` for other programs. docs/report.md describes them.
#pragma once

#include <string>
#include <vector>

#include "cli/report_input.h"
#include "report/summary.h"
#include "stowplan/report/report.h"

namespace stowplan::cli {

// A module of a directory, read and counted.
struct ModuleRow {
  std::string name;
  std::string stage;
  report::Summary summary;
  report::Backend backend = report::Backend::kUnknown;
  bool is_ours = false;  // no plan was given: it is Stowplan's
  size_t findings = 0;   // figures that differ from their computation
};

// The report (docs/report-schema.md), with one more field, `summary`,
// and `plan` where that is Stowplan's.
std::string ReportJson(const report::Report& report, const report::Summary& summary,
                       report::Backend backend, bool is_ours);

std::string ModulesJson(const std::vector<ModuleRow>& modules, const Inputs& inputs);
std::string ModulesCsv(const std::vector<ModuleRow>& modules);

}  // namespace stowplan::cli
