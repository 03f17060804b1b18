// SPDX-License-Identifier: Apache-2.0
// The figures of `stowplan report` as JSON. docs/report.md describes them.
#pragma once

#include <string>

#include "report/summary.h"
#include "session/count_modules.h"
#include "stowplan/report/report.h"

namespace stowplan::page {

// The report (docs/report-schema.md) with an additional field `summary`, and `plan` if Stowplan
// made the plan.
std::string ReportJson(const report::Report& report, const report::Summary& summary,
                       report::Backend backend, bool is_made);

std::string ModulesJson(const CountedModules& counted, int64_t other_files);
std::string ModulesCsv(const CountedModules& counted);

}  // namespace stowplan::page
