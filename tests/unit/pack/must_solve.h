// SPDX-License-Identifier: Apache-2.0
// Solve, for problems that make sense.
#pragma once

#include <gtest/gtest.h>

#include "stowplan/pack.h"

namespace stowplan::pack {

inline Answer MustSolve(const Problem& problem, const SolveOptions& options = {}) {
  Result<Answer> answer = Solve(problem, options);
  if (answer) return *std::move(answer);
  ADD_FAILURE() << Render(answer.error());
  return {};
}

}  // namespace stowplan::pack
