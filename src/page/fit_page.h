// SPDX-License-Identifier: Apache-2.0
// How a program fits into less memory, and what that costs.
#pragma once

#include <string>

#include "session/fit.h"

namespace stowplan::page {

std::string FitPage(const Fitted& fitted, const FitOptions& options);
std::string FitJson(const Fitted& fitted, const FitOptions& options);

}  // namespace stowplan::page
