// SPDX-License-Identifier: Apache-2.0
// How many bytes each value owns over time: MomentAt for all moments at once.
//
//     byte 2 |   b    b        a: 1 from 1 on
//     byte 1 |   b   c,b  c    b: 2 from 0 on, 1 from 1 on, 0 from 2 on
//     byte 0 |        a   a    c: 1 from 1 on
//              ------------
//        time    0    1   2
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "explain/picture.h"

namespace stowplan::explain {

struct ShareStep {
  int64_t time = 0;
  int64_t bytes = 0;  // from here to the next step
  int64_t padding = 0;
  friend bool operator==(const ShareStep&, const ShareStep&) = default;
};

struct Shares {
  // Steps of value v, by time: [begins[v], begins[v + 1]). A value that never owns a byte has none;
  // the last step of any other has 0 bytes, unless it lives until the largest representable time.
  std::vector<uint32_t> begins;
  std::vector<ShareStep> steps;

  [[nodiscard]] std::span<const ShareStep> of(report::ValueId id) const {
    return std::span(steps).subspan(begins[id.index], begins[id.index + 1] - begins[id.index]);
  }
};

// Has the requirements of MomentAt.
[[nodiscard]] Shares SharesOf(const Picture& picture);

}  // namespace stowplan::explain
