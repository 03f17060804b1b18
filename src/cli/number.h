// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cli/command.h"
#include "cli/console.h"

namespace stowplan::cli {

// The option's value as a number; nothing, and a message, when it is none.
std::optional<size_t> ReadCount(std::string_view option, const Arguments& arguments,
                                Console& console);

}  // namespace stowplan::cli
