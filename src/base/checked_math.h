// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from an input: an overflow of 64 bits is reported, never a wrong
// number.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace stowplan {

[[nodiscard]] inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

[[nodiscard]] inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The smallest multiple of `step` that is not below `a`. Needs a >= 0, step > 0.
[[nodiscard]] inline std::optional<int64_t> CheckedRoundUp(int64_t a, int64_t step) {
  const int64_t rest = a % step;
  return rest == 0 ? std::optional(a) : CheckedAdd(a, step - rest);
}

// ceil(a / b). Needs a >= 0, b > 0.
[[nodiscard]] inline int64_t CeilDivide(int64_t a, int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// The sum, or the nearest representable number: for sums that people read.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

}  // namespace stowplan
