// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace stowplan::pack {

// Random numbers: small, quick, and the same everywhere.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 0x2545F4914F6CDD1DULL) {
    if (state_ == 0) state_ = 1;
  }
  uint64_t Next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }
  // In [0, 1).
  double Fraction() { return static_cast<double>(Next() >> 11U) * 0x1.0p-53; }
  // In [0, count).
  size_t Below(size_t count) { return static_cast<size_t>(Next() >> 8U) % count; }

 private:
  uint64_t state_;
};

}  // namespace stowplan::pack
