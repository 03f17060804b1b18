// SPDX-License-Identifier: Apache-2.0
// The least height, found by trying all orders: each buffer as low as it goes on top of those put
// down before it. Some order of this kind is optimal.
#pragma once

#include <algorithm>
#include <vector>

#include "stowplan/pack.h"

namespace stowplan::pack {

inline bool AreAliveTogether(const Buffer& a, const Buffer& b) {
  return a.start < b.end && b.start < a.end;
}

// Tries what is left to be put down, as long as that can still be lower than `least`.
inline void TryOrders(const Problem& problem, std::vector<int64_t>& tops, size_t left,
                      int64_t height, int64_t& least) {
  if (left == 0) {
    least = std::min(least, height);
    return;
  }
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    if (tops[b] >= 0) continue;
    int64_t low = 0;
    for (size_t other = 0; other < problem.buffers.size(); ++other) {
      if (tops[other] >= 0 && AreAliveTogether(problem.buffers[b], problem.buffers[other]))
        low = std::max(low, tops[other]);
    }
    low = (low + problem.buffers[b].alignment - 1) / problem.buffers[b].alignment *
          problem.buffers[b].alignment;
    const int64_t top = low + problem.buffers[b].size;
    if (std::max(height, top) >= least) continue;
    tops[b] = top;
    TryOrders(problem, tops, left - 1, std::max(height, top), least);
    tops[b] = -1;
  }
}

inline int64_t LeastHeight(const Problem& problem) {
  int64_t least = INT64_MAX;
  std::vector<int64_t> tops(problem.buffers.size(), -1);  // -1: not put down yet
  TryOrders(problem, tops, problem.buffers.size(), 0, least);
  return least;
}

}  // namespace stowplan::pack
