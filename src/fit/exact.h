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
inline constexpr size_t kMostExactNodes = 24;
inline constexpr size_t kMostExactLives = 40;

// The cheapest sequence of every peak that is possible: no sequence is below the curve. Nothing if
// the task is too large, or the search took too long.
std::optional<Curve> SolveExactly(const Task& task, const std::function<bool()>& should_stop);

}  // namespace stowplan::fit
