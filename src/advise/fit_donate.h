// SPDX-License-Identifier: Apache-2.0
// Donation, for a program that must fit into less memory: free in work, but the caller may not use
// the donated arguments after the call.
#pragma once

#include <string>
#include <vector>

#include "session/fit.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/plan.h"

namespace stowplan::advise {

// Fit; if the options allow donation, of the program with those arguments donated that lower its
// memory. They are donated only if the program does not fit into the budget as it is. `names` as
// ArgumentsOf takes them.
Result<Fitted> FitWithDonations(const PlannedModule& planned, const FitOptions& options,
                                const std::vector<std::string>& names = {});

}  // namespace stowplan::advise
