// SPDX-License-Identifier: Apache-2.0
// Storage allocation, as numbers: buffers with sizes and times, offsets to choose.
//
//     offset ▲
//          3 │ ┌───────┐           b must lie above or below a, since both are alive at time 2;
//          2 │ │   b   │ ┌─────┐   c may take b's place
//          1 │ └─────┬─┴─┤  c  │
//          0 │   ┌ a ┴───┴─────┘
//            └───────────────────▶ time
#pragma once

#include <cstdint>
#include <vector>

namespace stowplan::pack {

struct Buffer {
  int64_t size = 0;
  int64_t start = 0;  // alive in [start, end)
  int64_t end = 0;
  int64_t alignment = 1;  // its offset is a multiple of this
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

using Problem = std::vector<Buffer>;

struct Plan {
  std::vector<int64_t> offsets;  // by buffer
  int64_t height = 0;            // the end of the highest
  friend bool operator==(const Plan&, const Plan&) = default;
};

// What no plan gets below: the bytes alive at one moment.
struct LoadBound {
  int64_t bytes = 0;
  int64_t time = 0;  // the first moment with that load
  friend bool operator==(const LoadBound&, const LoadBound&) = default;
};

// Needs a sound problem: sizes and times not negative, alignments positive, all sums in 64 bits
// (CheckProblem of check.h).
LoadBound FindLoadBound(const Problem& problem);

}  // namespace stowplan::pack
