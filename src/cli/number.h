// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/command.h"
#include "cli/console.h"

namespace stowplan::cli {

// The whole text as a number; nothing when it is none.
std::optional<int64_t> ParseNumber(std::string_view text);

// The option's value as a number; nothing, and a message, when it is none.
std::optional<size_t> ReadCount(std::string_view option, const Arguments& arguments,
                                Console& console);

// The same for seconds ("0.5") and bytes ("16GiB"). Needs the option to be given.
std::optional<double> ReadSeconds(std::string_view option, const Arguments& arguments,
                                  Console& console);
std::optional<int64_t> ReadBytes(std::string_view option, const Arguments& arguments,
                                 Console& console);

}  // namespace stowplan::cli
