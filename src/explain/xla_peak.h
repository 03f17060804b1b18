// SPDX-License-Identifier: Apache-2.0
// XLA's own peak and the true one, and the bytes that each reason for the difference explains.
//
//     xla.bytes + tuples + unplaced + padding + shared = live_then
//     live_then + other_moment = peak.bytes
//
// XLA adds up all memory spaces. It chooses the moment by sizes in which an element of a tuple
// counts as the table of pointers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/picture.h"
#include "report/peak.h"
#include "report/summary.h"

namespace stowplan::explain {

struct PeakGap {
  report::PrintedPeak xla;
  bool is_printed = false;  // false: no file has the list; it is as XLA would write it
  // Absent if a shape is missing: then only their sum is known.
  struct Reasons {
    int64_t tuples = 0;    // elements of tuples, listed as tables of pointers
    int64_t unplaced = 0;  // values in the list that have no memory of their own (negative)
    int64_t padding = 0;   // sizes as assigned, not of plain arrays
    int64_t shared = 0;    // bytes under several values at once (negative)
    friend bool operator==(const Reasons&, const Reasons&) = default;
  };
  std::optional<Reasons> reasons;
  int64_t live_then = 0;                            // really live at XLA's moment
  std::vector<report::SpacePeak> spaces_then = {};  // the same by memory space
  report::Peak peak;                                // of all memory spaces together
  int64_t other_moment = 0;
};

// Nothing when the report has no live ranges, or neither a list of the peak nor all shapes.
[[nodiscard]] std::optional<PeakGap> GapToXla(const Picture& picture);

}  // namespace stowplan::explain
