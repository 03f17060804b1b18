// SPDX-License-Identifier: Apache-2.0
// The user's source files, wherever their tree lies now.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/listener.h"

namespace stowplan::cli {

// Whether there is such a directory, or none is named. Else a message.
bool CheckRoot(const std::string& root, Listener& listener);

// The file of a frame below `root`: at its own path, or without its first folders; empty when there
// is none.
std::string PathBelow(const std::string& root, std::string_view file);

// What is in it.
std::optional<std::string> ReadBelow(const std::string& root, std::string_view file);

}  // namespace stowplan::cli
