// SPDX-License-Identifier: Apache-2.0
// Which files `stowplan view` may write over.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace stowplan::cli {

// Whether each of these is not there yet, or a page that `stowplan view` wrote. Else messages: a
// folder is easily the wrong one.
bool MayWritePages(const std::vector<std::string>& paths, std::string_view hint, Console& console);

}  // namespace stowplan::cli
