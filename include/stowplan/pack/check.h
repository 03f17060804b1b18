// SPDX-License-Identifier: Apache-2.0
// Whether a problem makes sense, and whether a plan is one. Shares nothing with the solvers.
#pragma once

#include <string>
#include <vector>

#include "stowplan/pack/problem.h"

namespace stowplan::pack {

// The first complaints, in words; none for a sound problem. Buffers are called by their rows.
std::vector<std::string> CheckProblem(const Problem& problem);

// The first complaints; none when no two buffers that are alive at once share a byte, all offsets
// are aligned, and the height is right.
std::vector<std::string> CheckPlan(const Problem& problem, const Plan& plan);

}  // namespace stowplan::pack
