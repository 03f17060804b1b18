// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stowplan::pack {

// The first multiple of `alignment` that is not below `offset`. FindMistakes saw to it that sums
// fit.
inline int64_t AlignUp(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace stowplan::pack
