// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stowplan::diff {

// For each of `few`, one of `many`, in order, so that the sum of the distances is smallest; among
// equals, the first. Both are sorted, and `many` is longer. Large lists take the nearest, one by
// one.
std::vector<size_t> Align(const std::vector<int64_t>& few, const std::vector<int64_t>& many);

}  // namespace stowplan::diff
