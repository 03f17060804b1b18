// SPDX-License-Identifier: Apache-2.0
// Whether a rewritten executable computes what the original does.
//
// The checker of plans (check/check.h) executes the module; it does not see the thunks, which are
// what runs. This check looks at nothing but thunks: it executes both sequences on named contents
// (executable/execute.h) and compares what the results hold. Whoever rewrites an executable decodes
// the new bytes again and asks here, so that mistakes of the rewriting and of the encoding are
// found alike.
#pragma once

#include <string>
#include <vector>

#include "executable/executable.h"

namespace stowplan::executable {

// Why an executable cannot be rewritten at all; empty if it can.
[[nodiscard]] std::vector<std::string> FindObstacles(const Executable& executable);

// For each slot, whether the thunk may depend on what it held before, as far as thunks say. Where
// they do not say, the worst is assumed; a caller that knows the module can do better.
[[nodiscard]] std::vector<bool> DeclaredReads(const Program& program);

// What is wrong with `rewritten`, in sentences; empty if it computes the same, with kernels that
// share memory as they were compiled for. Thunks of `rewritten` have names of the original's, or
// are copies: a copy does what some thunk of the original does, has no effect, and has a name of
// its own. `reads` are about the original's slots.
[[nodiscard]] std::vector<std::string> CompareThunks(const Executable& original,
                                                     const Executable& rewritten,
                                                     const std::vector<bool>& reads);

}  // namespace stowplan::executable
