// SPDX-License-Identifier: Apache-2.0
// Spans of time on tracks, as trace viewers want them: spans of one track follow each other or are
// nested, but never overlap in part.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "explain/picture.h"

namespace stowplan::exporting {

// Values of an allocation that are alive at once need separate tracks.
struct ValueSpan {
  report::ValueId value;
  int64_t start = 0;
  int64_t length = 0;  // at least 1
  uint32_t lane = 0;   // of its allocation, from 0
};
struct AllocationSpans {
  report::AllocationId allocation;
  std::vector<ValueSpan> spans;  // by start
  uint32_t lanes = 0;
};
// The spans of `values`, allocation by allocation: the largest first, then as in the report. A span
// ends with the program. n log n.
[[nodiscard]] std::vector<AllocationSpans> FindSpans(const report::Report& report,
                                                     const std::vector<report::ValueId>& values);

// When the instructions of a computation run.
struct ComputationSpan {
  std::string_view name;
  int64_t start = 0;
  int64_t length = 0;
};
// Those of the picture's module, outer before inner. A span that overlaps another in part is left
// out.
[[nodiscard]] std::vector<ComputationSpan> FindComputations(const explain::Picture& picture);

}  // namespace stowplan::exporting
