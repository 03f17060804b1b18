// SPDX-License-Identifier: Apache-2.0
// How a program fits into less memory, and what that costs.
#pragma once

#include <string>

#include "session/fit.h"

namespace stowplan::page {

std::string FitPage(const Fitted& fitted, const FitOptions& options);
std::string FitJson(const Fitted& fitted, const FitOptions& options);
// One self-contained page: the curve with a budget that can be dragged, and what is computed again.
std::string FitHtml(const Fitted& fitted, const FitOptions& options);

// Whether the chosen point is within the budget, if there is one.
bool Fits(const FitFacts& facts, const FitOptions& options);
// "params, state"
std::string DonatedNames(const FitFacts& facts);

}  // namespace stowplan::page
