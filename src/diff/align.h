// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stowplan::diff {

// For each of `few`, one of `many`, in order, so that the distances add up to the least; of equal
// ones the first. Both are sorted, and `many` has more. Large lists take the nearest one by one.
std::vector<size_t> Align(const std::vector<int64_t>& few, const std::vector<int64_t>& many);

}  // namespace stowplan::diff
