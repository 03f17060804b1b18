// SPDX-License-Identifier: Apache-2.0
// Stowplan's own assignment as a report: the same value that XLA's files are read into.
#pragma once

#include "assign/assignment.h"
#include "live/analysis.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/dialect.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct ReportStyle {
  ReportDialect dialect;
  hlo::Dialect instructions;  // how instructions are written in it
};
// As the named version of XLA writes reports; nothing if there is no such version.
std::optional<ReportStyle> FindReportStyle(std::string_view version);

// The report does not need the module afterwards.
Report ReportOf(const hlo::Module& module, const Analysis& analysis, const Assignment& assignment,
                const ReportStyle& style);

// What another pass of XLA placed in `space`, according to a report; nothing if that pass did not
// run. Fails if the report places a value that the program does not have, or none of the program's.
Result<std::optional<Preset>> PresetFrom(const hlo::Module& module, const Analysis& analysis,
                                         const Report& report, int64_t space);

}  // namespace stowplan::report
