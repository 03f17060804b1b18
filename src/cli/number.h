// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/command.h"
#include "cli/console.h"

namespace stowplan::cli {

// The whole text as a number; nothing if it is not one.
std::optional<int64_t> ParseNumber(std::string_view text);

// The option's value as a number. If it is not one, shows an error and returns nothing.
std::optional<size_t> ReadCount(std::string_view option, const Arguments& arguments,
                                Console& console);

// The same for seconds ("0.5") and bytes ("16GiB"). The option must have been given.
std::optional<double> ReadSeconds(std::string_view option, const Arguments& arguments,
                                  Console& console);
std::optional<int64_t> ReadBytes(std::string_view option, const Arguments& arguments,
                                 Console& console);

}  // namespace stowplan::cli
