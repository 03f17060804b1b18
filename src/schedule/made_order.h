// SPDX-License-Identifier: Apache-2.0
// What names reveal about the order in which a compiler made the computations of a module. A proto
// has their ids; a text has only names, which XLA numbers as it goes.
#pragma once

#include <span>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan {

// The computations in the order in which they were made, as far as names show: those of the program
// (`region_3.8`, `main.9`) by their numbers, then copies by the numbers of their parameters, then
// the bodies of fusions, then those of single instructions, then bodies of loops that became calls.
// If the entry has no number, the order is as written: that is XLA's order when it reads such a
// text.
std::vector<hlo::CompId> OrderOfMaking(const hlo::Module& module);

// Callees before callers; of those that could be next, always the first of `list`.
std::vector<hlo::CompId> CalleesFirst(const hlo::Module& module, std::span<const hlo::CompId> list);

}  // namespace stowplan
