// SPDX-License-Identifier: Apache-2.0
// The order of execution that XLA's CPU compiler chooses: breadth first. What needs nothing comes
// first, as the computation lists it; whatever becomes ready then waits in one queue.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::advise {

// Users that become ready at once come by rising rank (by instruction). With the places in a
// breadth-first schedule as ranks, that schedule comes out again.
[[nodiscard]] std::vector<hlo::InstrId> BreadthFirst(const hlo::Module& module,
                                                     hlo::CompId computation,
                                                     std::span<const int64_t> ranks);

// The place of each instruction in the schedule of its computation; those of others are 0.
[[nodiscard]] std::vector<int64_t> RanksOf(const hlo::Module& module, hlo::CompId computation);

// Whether the computation's schedule is such an order.
[[nodiscard]] bool IsBreadthFirst(const hlo::Module& module, hlo::CompId computation);

}  // namespace stowplan::advise
