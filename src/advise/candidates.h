// SPDX-License-Identifier: Apache-2.0
// Edits that are worth a try: around the moments at which a plan is fullest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "advise/edit.h"
#include "advise/plan.h"
#include "stowplan/hlo/module.h"

namespace stowplan::advise {

struct Candidate {
  std::vector<Edit> edits;  // several: all recomputations that one line of source asks for
  int64_t bytes = 0;        // of the values concerned: the most it could save, as a rule
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// The moments: of the true peak of a memory space, and of the fullest moment of its largest
// allocation of temporaries.
[[nodiscard]] std::vector<int64_t> FullMoments(const Plan& plan, int64_t space);

// Copies, moves and recomputations; of each kind at most `limit`, the largest values first.
[[nodiscard]] std::vector<Candidate> FindCandidates(const hlo::Module& module, const Plan& plan,
                                                    int64_t space, size_t limit);

}  // namespace stowplan::advise
