// SPDX-License-Identifier: Apache-2.0
// Which files `stowplan view` may overwrite.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace stowplan::cli {

// Whether each of these files does not exist yet, or is a page that `stowplan view` wrote.
// Otherwise shows errors and returns false: it is easy to name the wrong folder.
bool MayWritePages(const std::vector<std::string>& paths, std::string_view hint, Console& console);

}  // namespace stowplan::cli
