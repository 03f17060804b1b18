// SPDX-License-Identifier: Apache-2.0
// What somebody with an out-of-memory error has to know first, in four lines at most: how much the
// program needs, against which limit; what leads, and which of the user's lines; the first thing to
// do about it.
#pragma once

#include <string>
#include <vector>

#include "page/explain_view.h"

namespace stowplan::page {

// Requires a moment. Each line is at most kExplainWidth wide.
std::vector<std::string> Headline(const ExplainView& view);

}  // namespace stowplan::page
