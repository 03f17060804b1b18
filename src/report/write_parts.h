// SPDX-License-Identifier: Apache-2.0
// Pieces that several writers share.
#pragma once

#include <string>
#include <string_view>

#include "stowplan/report/report.h"

namespace stowplan::report {

// {1,0}
void AppendIndex(const Report& report, const Index& index, std::string& out);
// <12 fusion.3{0} (phi) @1>
void AppendValueName(const Report& report, const Value& value, std::string& out);
// The line of an allocation; `size` is its size in bytes or in human-readable form.
void AppendAllocation(const Report& report, const Allocation& allocation,
                      const ReportDialect& dialect, std::string_view size, std::string& out);
// The stack tree under its headline.
void AppendTree(const LiveRanges& ranges, std::string& out);

}  // namespace stowplan::report
