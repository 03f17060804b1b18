// SPDX-License-Identifier: Apache-2.0
// The whole curve of a small task, by a search over all states of its memory.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "fit/search.h"
#include "fit/task.h"

namespace stowplan::fit {

// Tasks of more nodes or lives have too many states.
inline constexpr size_t kMostExactNodes = 30;
inline constexpr size_t kMostExactLives = 64;

// The cheapest sequences, from high peaks to low ones; a task that is too large has none, and a
// search that took too long ends early. No sequence of any peak down to that of the last one is
// cheaper, except that one of the last one's cost may have a lower peak.
struct ExactPart {
  Curve curve;
  bool is_whole = false;  // there are no others
};
ExactPart SolveFromAbove(const Task& task, const std::function<bool()>& should_stop);

// What a search starts from, and what must be in memory when it ends, by number.
struct ExactEnds {
  uint64_t done = 0;    // nodes that have run
  uint64_t held = 0;    // lives in memory
  uint64_t needed = 0;  // lives in memory at the end
};
// The cheapest sequence from there whose loads are at most `limit`, if there is one that costs less
// than `most_cost` and it is found in so many steps.
struct ExactStretch {
  Sequence sequence;
  double cost = 0;
};
std::optional<ExactStretch> SolveStretch(const Task& task, const ExactEnds& ends, int64_t limit,
                                         double most_cost, size_t most_steps);

// All of them, or nothing.
std::optional<Curve> SolveExactly(const Task& task, const std::function<bool()>& should_stop);

}  // namespace stowplan::fit
