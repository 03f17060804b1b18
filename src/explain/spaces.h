// SPDX-License-Identifier: Apache-2.0
// What lies in each memory space, so that the cost of a question about one space depends only on
// that space.
#pragma once

#include <vector>

#include "explain/picture.h"

namespace stowplan::explain {

// By color.
[[nodiscard]] std::vector<Space> SpacesOf(const report::Report& report);

}  // namespace stowplan::explain
