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

// What is complete before the last line of a file: "the assignment (13 allocations), 4 values of
// the value list".
std::string CompleteParts(const Source& source);

// An error at the end of a file that could be read, but ends in the middle of a line or lacks what
// must follow.
std::optional<Diagnostic> FindCut(const report::Report& report, const Source& source);

// A warning at the end of an assignment that comes without other files and has no allocation for
// the module's output. XLA always prints one, but a report written by hand may lack it.
std::optional<Diagnostic> FindDoubtfulEnd(const report::Report& report, const Source& source);

// Rewrites errors from reading these files: one in the last line of a file becomes the last error
// of that file, and says what is complete.
Diagnostics ExplainCuts(Diagnostics errors, std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan
