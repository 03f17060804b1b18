// SPDX-License-Identifier: Apache-2.0
// The solver behind Solve, for problems that are known to make sense.
#pragma once

#include "stowplan/pack.h"

namespace stowplan::pack {

// Needs a sound problem (FindMistakes) and options that Solve accepts.
Answer SolveSound(const Problem& problem, const SolveOptions& options);

}  // namespace stowplan::pack
