// SPDX-License-Identifier: Apache-2.0
// Who shares a byte with whom at one moment. For the checker; shares nothing with the solvers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

struct Overlap {
  uint32_t first = 0;
  uint32_t second = 0;
  int64_t time = 0;
};

// The first overlaps in time, at most `limit`; members of one group do not count. `pools` is empty
// when there is one memory. Buffers at negative offsets are left out; groups
// have one offset.
std::vector<Overlap> FindOverlaps(const Problem& problem, std::span<const int64_t> offsets,
                                  std::span<const uint32_t> pools, size_t limit);

}  // namespace stowplan::pack
