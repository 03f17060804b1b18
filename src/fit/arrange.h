// SPDX-License-Identifier: Apache-2.0
// The order of a sequence with repetitions. The best order for a program that keeps everything in
// memory need not be the best once it keeps less.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "fit/task.h"

namespace stowplan::fit {

// The same occurrences in an order of lower peak, or as they are. `effort`: as order::SolveOptions
// has it.
Sequence Arrange(const Task& task, std::span<const Node> sequence,
                 const std::function<bool()>& should_stop, std::optional<int64_t> effort = {});

// The first occurrences alone.
Sequence WithoutRepetitions(const Task& task, std::span<const Node> sequence);

}  // namespace stowplan::fit
