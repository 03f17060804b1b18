// SPDX-License-Identifier: Apache-2.0
// Edits that are worth trying: those around the moments when a plan is fullest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advise/edit.h"
#include "advise/plan.h"
#include "stowplan/hlo/module.h"

namespace stowplan::advise {

struct Candidate {
  std::vector<Edit> edits;  // several: all recomputations for one source line
  int64_t bytes = 0;        // of the values concerned: usually the most it could save
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// These moments: the true peak of a memory space, and the fullest moment of its largest temporary
// allocation.
[[nodiscard]] std::vector<int64_t> FullMoments(const Plan& plan, int64_t space);

// Copies, moves and recomputations; at most `limit` of each kind, largest values first.
[[nodiscard]] std::vector<Candidate> FindCandidates(const hlo::Module& module, const Plan& plan,
                                                    int64_t space, size_t limit,
                                                    const OwnCode& own);

}  // namespace stowplan::advise
