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

// XLA's files as `dialect` has them. With separate_files, WriteAssignment writes the assignment
// alone; otherwise the value list and the live ranges follow it, as XLA wrote them before 2026-04.
std::string WriteAssignment(const Report& report, const ReportDialect& dialect);
std::string WriteValueList(const Report& report, const ReportDialect& dialect);
std::string WriteLiveRanges(const Report& report, const ReportDialect& dialect);
std::string WriteUsage(const Report& report, const ReportDialect& dialect);

// These parts in one text, in XLA's order: assignment, value list, live ranges, usage report. Parts
// that the report lacks, or that the dialect does not know, are left out. ReadReport reads every
// such text back: the same facts, and CompareFigures finds nothing in it.
//
// XLA's own combined file has the first three; the usage report was always a file of its own, so
// only Stowplan writes (and reads) it after them. Whether a dialect has separate files is all the
// same here.
std::string WriteParts(const Report& report, const ReportDialect& dialect, const Parts& parts);
// Everything the report has, in one text.
std::string WriteCombined(const Report& report, const ReportDialect& dialect);

// What `source`, one of the report's, should say: its parts in the report's own dialect.
std::string WriteFile(const Report& report, const Source& source);

// Lines of `source` that differ from what is computed, each as a diagnostic at the line that shows
// both. Empty for a file whose figures are right.
Diagnostics CompareFigures(const Report& report, const Source& source);

}  // namespace stowplan::report
