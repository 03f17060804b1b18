// SPDX-License-Identifier: Apache-2.0
// Checks certificates of `stowplan order` (docs/order.md).
#pragma once

#include <cstdint>
#include <string>

namespace stowplan::certify {

inline constexpr const char* kOrderHead = "stowplan-order-certificate 1\n";

// Returns what was certified, one line for each section. `nodes` limits searches.
std::string CheckOrders(const std::string& text, int64_t nodes);

}  // namespace stowplan::certify
