// SPDX-License-Identifier: Apache-2.0
// A report as XLA's text, in its own dialect or a different one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stowplan/report/dialect.h"
#include "stowplan/report/report.h"

namespace stowplan::page {

// What a report of this dialect contains but this report lacks, in words. Empty: it can be written.
std::vector<std::string> MissingFacts(const report::Report& report,
                                      const report::ReportDialect& dialect,
                                      const report::Parts& parts);

// Whether the texts of instructions lack operand shapes that the dialect writes, or have shapes
// that it does not write.
bool InstructionTextsDiffer(const report::Report& report, std::string_view dialect);

// The parts that the report has and the dialect knows.
report::Parts PartsOf(const report::Report& report, const report::ReportDialect& dialect);

}  // namespace stowplan::page
