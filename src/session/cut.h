// SPDX-License-Identifier: Apache-2.0
// Files that end too early: a copy that was interrupted, a disk that was full.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/report/report.h"

namespace stowplan {

// What a file holds before its last line: "the assignment (13 allocations), 4 values of the value
// list".
std::string CompleteParts(const Source& source);

// An error at the end of a file that was read, but ends in the middle of a line or lacks what has
// to follow.
std::optional<Diagnostic> FindCut(const report::Report& report, const Source& source);

// A warning at the end of an assignment that is all we have and has no place for the module's
// output. XLA always prints one; people who write reports by hand may not.
std::optional<Diagnostic> FindDoubtfulEnd(const report::Report& report, const Source& source);

// Errors of reading these files; where one is in the last line, it is the last of its file and says
// what is complete.
Diagnostics ExplainCuts(Diagnostics errors, std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan
