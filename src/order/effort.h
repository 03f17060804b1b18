// SPDX-License-Identifier: Apache-2.0
// How much a search may still do, in steps of a few nanoseconds. It counts steps instead of
// measuring time, so the same problem gets the same answer on every machine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "order/problem.h"

namespace stowplan::order {

class Effort {
 public:
  explicit Effort(int64_t steps) : left_(steps) {}

  [[nodiscard]] int64_t left() const { return left_; }
  [[nodiscard]] bool Has(int64_t steps) const { return left_ >= steps; }
  void Spend(int64_t steps) { left_ -= std::min(steps, left_); }
  // Takes this many steps; false if fewer were left.
  bool Take(int64_t steps) {
    if (!Has(steps)) return false;
    left_ -= steps;
    return true;
  }

 private:
  int64_t left_;
};

// The cost of walking over a whole problem once.
inline int64_t SizeOf(const Problem& problem) {
  return static_cast<int64_t>(problem.size() + problem.before.total() + problem.touched.total() +
                              problem.lives.size());
}

}  // namespace stowplan::order
