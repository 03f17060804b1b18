// SPDX-License-Identifier: Apache-2.0
// The best possible order, for small problems.
#pragma once

#include <optional>

#include "order/problem.h"

namespace stowplan::order {

inline constexpr size_t kMostExactNodes = 64;

// An order of the least possible peak, whose load in the small memory is at most `capped_limit`.
// Nothing if the problem has more nodes than kMostExactNodes, or finding it takes more than
// `most_states` steps.
std::optional<Order> FindBestOrder(const Problem& problem, int64_t capped_limit,
                                   size_t most_states);

}  // namespace stowplan::order
