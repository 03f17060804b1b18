// SPDX-License-Identifier: Apache-2.0
// Advice in words: what to do, and how to write it in JAX.
#pragma once

#include <string>
#include <vector>

#include "advise/advice.h"
#include "stowplan/hlo/module.h"

namespace stowplan::advise {

// "model.py:12", the user's own line; empty if not known.
[[nodiscard]] std::string SourceOf(const hlo::Module& module, hlo::InstrId id, const OwnCode& own);
[[nodiscard]] std::string SourceOf(const hlo::Module& module, const std::string& computation,
                                   const std::string& instruction, const OwnCode& own);

void Describe(const hlo::Module& module, const OwnCode& own, Advice& advice);
// If the program is not from JAX, what to write is said in words that fit any framework.
void SayForFramework(const hlo::Module& module, Advice& advice);
void DescribeDonation(const std::vector<DonationAnswer>& answers, Advice& advice);

}  // namespace stowplan::advise
