// SPDX-License-Identifier: Apache-2.0
// Sizes in all the spellings that occur in logs: 15.48G, 3.20GiB, 2684354560B, 1.50 MiB,
// 8387559424.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "oom/oom.h"

namespace stowplan::oom {

// The size at `position` of `text`, after optional blanks. `position` moves past it, and stays if
// there is none. Units are powers of 1024. "1.50GiB (1610612736 bytes)" is the exact number.
std::optional<Size> ReadSize(std::string_view text, size_t& position);

// The whole text as a size.
std::optional<Size> ParseSize(std::string_view text);

// Sums and differences; absent if they cannot be computed. Slacks add up.
std::optional<Size> Plus(const std::optional<Size>& a, const std::optional<Size>& b);
std::optional<Size> Minus(const std::optional<Size>& a, const std::optional<Size>& b);

}  // namespace stowplan::oom
