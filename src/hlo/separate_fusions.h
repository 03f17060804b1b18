// SPDX-License-Identifier: Apache-2.0
// XLA's compilers need a computation for each fusion; instructions that were copied share theirs.
#pragma once

#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// Where the rows of a changed module come from: rows of the module before.
struct Origins {
  std::vector<InstrId> instructions;
  std::vector<CompId> computations;
};

// The module with a copy of the computation for each further fusion that calls it, nested ones
// too. The copies come right before their callers, and names differ in the whole module.
Module SeparateFusions(const Module& module, Origins& origins);

}  // namespace stowplan::hlo
