// SPDX-License-Identifier: Apache-2.0
// Where the rest of the memory goes: a memory space takes more than is live at its peak.
//
//     footprint = live + dead + fragmentation + alignment + untimed + thread-local
//
// Each allocation is split on its own, at the same moment t:
//
//     size    │ alignment       gaps at its fullest moment, up to the next allowed offset
//             │ fragmentation   the rest that is free at its fullest moment
//     load  ─ │ ─ ─ ─ ─ ─ ─ ─   the most of it that is live at once
//             │ dead            in use at its fullest moment, but not at t
//     live  ─ │ ─ ─ ─ ─ ─ ─ ─   at t
//             │ live
//
// Load is a bound: no packing of the same values at the same times is smaller. So fragmentation and
// alignment are what packing lost, and dead bytes are what the order of the program leaves idle at
// t.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/moment.h"
#include "explain/picture.h"
#include "stowplan/report/report.h"

namespace stowplan::explain {

struct Footprint {
  int64_t bytes = 0;  // the sum of the allocations' sizes, and of all that follows
  int64_t live = 0;
  int64_t dead = 0;
  int64_t fragmentation = 0;
  int64_t alignment = 0;
  // Under values that have no live range (constants, often), and never under one that has.
  int64_t untimed = 0;
  int64_t thread_local_bytes = 0;  // whole allocations
  friend bool operator==(const Footprint&, const Footprint&) = default;

  [[nodiscard]] int64_t sum() const {
    return live + dead + fragmentation + alignment + untimed + thread_local_bytes;
  }
};

// All allocations of the moment's memory space together, or of all spaces. The cost depends only on
// these.
[[nodiscard]] Footprint FootprintOf(const Picture& picture, const Moment& moment);
// The same; has the requirements of MomentAt.
[[nodiscard]] Footprint FootprintAt(const Picture& picture, int64_t time,
                                    std::optional<int64_t> space = std::nullopt);

}  // namespace stowplan::explain
