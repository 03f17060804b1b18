// SPDX-License-Identifier: Apache-2.0
// What is live at a moment.
//
// At a moment t, a byte of an allocation is live when a value lies on it with start <= t <= end, as
// XLA prints them. It counts once, and belongs to the youngest of the values on it: the one with
// the latest start, of these the last in the report's table. Thread-local allocations are left out.
//
//     byte 2 |   b    b        at 0: b owns 2 bytes
//     byte 1 |   b   c,b  c    at 1: a and c are as young; byte 1 belongs to c, which is younger
//     byte 0 |        a   a          than b. a: 1, b: 1, c: 1
//              ------------
//        time    0    1   2
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/picture.h"
#include "report/peak.h"
#include "stowplan/report/report.h"

namespace stowplan::explain {

// What one value owns at a moment.
struct Share {
  report::ValueId value;
  int64_t bytes = 0;    // including padding
  int64_t padding = 0;  // what exceeds the value's plain bytes
  friend bool operator==(const Share&, const Share&) = default;
};

struct Moment {
  int64_t time = 0;
  std::optional<int64_t> space;  // a color; absent: all memory spaces together
  int64_t bytes = 0;             // the sum of the shares
  std::vector<Share> shares;     // all live values: by descending bytes, then in table order
};

// Requires report::HasPeak, and a report that MakePicture accepts.
[[nodiscard]] Moment MomentAt(const Picture& picture, int64_t time,
                              std::optional<int64_t> space = std::nullopt);

using report::BytesAt;
using report::Curve;
using report::Curves;
using report::Step;

}  // namespace stowplan::explain
