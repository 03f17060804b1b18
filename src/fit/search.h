// SPDX-License-Identifier: Apache-2.0
// Memory against cost: sequences that need less memory, each at the least cost that a search of
// fixed effort finds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fit/task.h"

namespace stowplan::fit {

// A point of the curve.
struct Point {
  double cost = 0;  // extra
  int64_t peak = 0;
  Sequence sequence;
};

// By rising cost and falling peak; the first is the given sequence.
using Curve = std::vector<Point>;

struct SearchOptions {
  double most_cost = 0;    // extra; no point costs more
  int64_t least_peak = 0;  // no need to go below
  // Called from time to time; true ends the search with what was found so far. If it is never true,
  // the answer depends on the task alone.
  std::function<bool()> should_stop;
  // Called for each sequence that is looked at.
  std::function<void(double cost, int64_t peak)> on_point;
  bool is_exact_allowed = true;  // for small tasks (exact.h)
};

Curve Search(const Task& task, const SearchOptions& options);

}  // namespace stowplan::fit
