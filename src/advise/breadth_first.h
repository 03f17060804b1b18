// SPDX-License-Identifier: Apache-2.0
// The order of execution that XLA's CPU compiler chooses: breadth first. Instructions without
// operands come first, in the order of the computation; whatever becomes ready joins one queue.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::advise {

// Users that become ready at the same time are ordered by rank (indexed by instruction). Given the
// positions in a breadth-first schedule as ranks, this reproduces that schedule.
[[nodiscard]] std::vector<hlo::InstrId> BreadthFirst(const hlo::Module& module,
                                                     hlo::CompId computation,
                                                     std::span<const int64_t> ranks);

// The position of each instruction in the schedule of its computation; 0 for the others.
[[nodiscard]] std::vector<int64_t> RanksOf(const hlo::Module& module, hlo::CompId computation);

// Whether the computation's schedule is such an order.
[[nodiscard]] bool IsBreadthFirst(const hlo::Module& module, hlo::CompId computation);

}  // namespace stowplan::advise
