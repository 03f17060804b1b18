// SPDX-License-Identifier: Apache-2.0
// Writes a Report as XLA's text, in any dialect that it has the facts for.
//
// What follows from other facts is computed, never echoed: totals, human-readable sizes, cumulative
// sums, percentages, the peak's moment and list, the usage report. A consistent file comes back
// byte for byte.
#pragma once

#include <string>

#include "report/read.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// The files as `dialect` has them: with separate_files only the assignment, else the combined file.
std::string WriteAssignment(const Report& report, const ReportDialect& dialect);
std::string WriteValueList(const Report& report, const ReportDialect& dialect);
std::string WriteLiveRanges(const Report& report, const ReportDialect& dialect);
std::string WriteUsage(const Report& report, const ReportDialect& dialect);

// A file of this kind, in the report's own dialect.
std::string WriteFile(const Report& report, FileKind kind);

// Lines of `source` that differ from what is computed, each as a diagnostic at the line that shows
// both. Empty for a file whose figures are right.
Diagnostics CompareFigures(const Report& report, const Source& source);

}  // namespace stowplan::report
