// SPDX-License-Identifier: Apache-2.0
// Finds the user's source files, wherever their tree is now.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan::explain {

// Fails if there is no such directory. An empty root is fine.
Result<bool> CheckRoot(const std::string& root);

// The file of a frame below `root`: at its own path, or without its first folders; empty if there
// is none.
std::string PathBelow(const std::string& root, std::string_view file);

// The contents of the file.
std::optional<std::string> ReadBelow(const std::string& root, std::string_view file);

}  // namespace stowplan::explain
