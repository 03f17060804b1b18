// SPDX-License-Identifier: Apache-2.0
// What lies in each memory space, so that a question about one of them costs no more than it has.
#pragma once

#include <vector>

#include "explain/picture.h"

namespace stowplan::explain {

// By color.
[[nodiscard]] std::vector<Space> SpacesOf(const report::Report& report);

}  // namespace stowplan::explain
