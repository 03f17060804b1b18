// SPDX-License-Identifier: Apache-2.0
// XLA's report files to a Report.
#pragma once

#include <memory>
#include <span>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// What a file is, by its content.
enum class FileKind : uint8_t {
  kUnknown,
  kAssignment,  // -buffer-assignment.txt; before 2026-04 followed by value list and live ranges
  kValueList,   // -buffer-assignment-values.txt
  kLiveRanges,  // -live-range.txt
  kUsage,       // -memory-usage-report.txt
};
// Of a text with several parts, the first.
FileKind KindOf(const Source& source);

// The parts of `report` that were read from `source`.
Parts PartsIn(const Report& report, const Source& source);

// Reads the files of one module; each part may be there once, and several may be in one file, in
// the order of FileKind. On failure: the first kMaxErrors errors.
Result<Report> ReadReport(std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan::report
