// SPDX-License-Identifier: Apache-2.0
// Human-readable sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stowplan {

// 512B, 236.5KiB, 40.00MiB, 1.26GiB: digits and rounding as in XLA's reports.
std::string HumanBytes(int64_t bytes);

// 1.50GiB (1610612736); below 1024 just 512B.
std::string HumanAndExactBytes(int64_t bytes);

// "1 module", "3 modules"
[[nodiscard]] std::string CountOf(int64_t count, std::string_view thing);

}  // namespace stowplan
