// SPDX-License-Identifier: Apache-2.0
// What the command line and Python say about FitOptions, in the same words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/fit.h"

namespace stowplan {

// "pack,order,recompute,donate"; the first word that is not known.
[[nodiscard]] std::optional<std::string> ReadUses(std::string_view list, FitOptions& options);
inline constexpr std::string_view kUses = "pack, order, recompute, donate";
inline constexpr std::string_view kDefaultUses = "pack,order,recompute";

// For FitOptions::machine.
[[nodiscard]] std::vector<std::string_view> FitMachines();

// "495T", "3.35e12", "800G": units are powers of 1000. Nothing if it is not a number above 0.
[[nodiscard]] std::optional<double> ParseRate(std::string_view text);

}  // namespace stowplan
