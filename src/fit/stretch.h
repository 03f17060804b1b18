// SPDX-License-Identifier: Apache-2.0
// A stretch of a sequence, solved exactly: the cheapest way to get from what is in memory before it
// to what is needed after it. A few nodes that take part in it but do not occur there may be
// repeated, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fit/task.h"

namespace stowplan::fit {

// The places from `first` to before `end`.
struct Stretch {
  uint32_t first = 0;
  uint32_t end = 0;
};

// The whole sequence with another stretch whose loads are at most `limit` and that costs less than
// `most_cost`; nothing if none is found. Requires the trace of the sequence.
std::optional<Sequence> SolveStretchOf(const Task& task, std::span<const Node> sequence,
                                       const Trace& trace, Stretch stretch, int64_t limit,
                                       double most_cost);

// What the repetitions of a stretch cost.
double CostOf(const Task& task, std::span<const Node> sequence, Stretch stretch);

}  // namespace stowplan::fit
