// SPDX-License-Identifier: Apache-2.0
// How much memory a task needs in every order and with every repetition.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "fit/task.h"

namespace stowplan::fit {

// When `witness` runs for the first time, this much is in use: what it reads and makes, and of what
// is read later what was there from the start or cannot be computed again (load_bound.h).
struct Bound {
  int64_t bytes = 0;
  Node witness = kNoNode;
  int64_t own = 0;  // of these: what the witness itself reads and makes
};
Bound FindBound(const Task& task, const std::function<bool()>& should_stop = {});
// `is_gone`: by node, whether it may be left out of the program; empty: none may. What only such
// nodes make should have no size.
Bound FindBound(const Task& task, std::span<const uint8_t> is_gone,
                const std::function<bool()>& should_stop = {});

// Of sequences whose extra cost is at most `most_cost`. Looks at the nodes of the largest loads in
// `sequence`, which should be a good one of that cost: others cannot show that it is best.
Bound FindBoundAt(const Task& task, std::span<const Node> sequence, double most_cost,
                  const std::function<bool()>& should_stop = {});

}  // namespace stowplan::fit
