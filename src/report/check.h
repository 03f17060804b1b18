// SPDX-License-Identifier: Apache-2.0
// Facts in a report that cannot all be true.
//
// CompareFigures (write.h) finds wrong figures, which follow from facts. These are the facts: in
// every dump that we have
//
//   - allocations are numbered from 0, and their values lie within them, in their memory space;
//   - an allocation that is no temporary ends where the last of its values ends;
//   - a live range begins before it ends and ends within the schedule, and its value has a place;
//   - a value has a live range, unless it is thread-local or a constant.
#pragma once

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// Warnings at the lines of `source`, one of the files that the report was read from.
[[nodiscard]] Diagnostics FindContradictions(const Report& report, const Source& source);

}  // namespace stowplan::report
