// SPDX-License-Identifier: Apache-2.0
// The user's source files, wherever their tree lies now.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan::page {

// Fails when there is no such directory. None need be named.
Result<bool> CheckRoot(const std::string& root);

// The file of a frame below `root`: at its own path, or without its first folders; empty when there
// is none.
std::string PathBelow(const std::string& root, std::string_view file);

// What is in it.
std::optional<std::string> ReadBelow(const std::string& root, std::string_view file);

}  // namespace stowplan::page
