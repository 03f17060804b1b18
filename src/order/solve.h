// SPDX-License-Identifier: Apache-2.0
// The order of least peak that a search of fixed effort finds, and how far it can be from the best
// possible order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "order/problem.h"

namespace stowplan::order {

struct SolveOptions {
  // Called from time to time; true ends the search with the best order so far. If it is never true,
  // the answer depends on the problem alone.
  std::function<bool()> should_stop;
  // In steps of a few nanoseconds (effort.h); none: DefaultEffort.
  std::optional<int64_t> effort = {};
  bool needs_bound = true;  // otherwise Answer::bound may be 0
};

// Grows with the problem, up to some seconds.
int64_t DefaultEffort(size_t nodes);

struct Answer {
  Order order;  // the given one if none better was found
  int64_t given_peak = 0;
  int64_t peak = 0;
  // No order has a lower peak. It is the least load that `witness` can have.
  int64_t bound = 0;
  Node witness = kNoNode;
  int64_t steps = 0;  // how much effort it took

  [[nodiscard]] bool is_optimal() const { return peak <= bound; }
};

Answer Solve(const Problem& problem, const SolveOptions& options = {});

}  // namespace stowplan::order
