// SPDX-License-Identifier: Apache-2.0
// How low the temporaries of a memory space got, and how low they can get at all.
#pragma once

#include <cstdint>
#include <optional>

namespace stowplan {

// The temporaries of a memory space.
struct BestHeap {
  int64_t color = 0;
  int64_t xla_bytes = 0;  // in XLA's plan, all of its blocks together
  int64_t bytes = 0;      // in this plan; never more
  // No plan for what lies in the heap is lower.
  int64_t bound = 0;
  // The instant at which this much is needed; none if the search has gone through all lower plans.
  std::optional<int64_t> bound_time;
  // No plan is lower, whatever moves into buffers of the result.
  int64_t floor = 0;
  int64_t guests = 0;      // temporary values that lie in buffers of the result
  int64_t xla_guests = 0;  // the same in XLA's plan

  [[nodiscard]] bool is_optimal() const { return bytes == bound; }
  friend bool operator==(const BestHeap&, const BestHeap&) = default;
};

}  // namespace stowplan
