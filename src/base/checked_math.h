// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from an input: an overflow of 64 bits is reported, never a wrong
// number.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace stowplan {

[[nodiscard]] inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

[[nodiscard]] inline std::optional<int64_t> CheckedSubtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

[[nodiscard]] inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The product of sizes; nothing when it does not fit or one is negative. Where one is 0 it is 0, in
// whatever order they stand: an array with an empty dimension has no elements.
[[nodiscard]] inline std::optional<int64_t> CheckedProduct(std::span<const int64_t> sizes) {
  std::optional<int64_t> product = 1;
  bool is_empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    is_empty = is_empty || size == 0;
    if (product) product = CheckedMultiply(*product, size);
  }
  return is_empty ? 0 : product;
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

// The product, or the nearest number there is: for sizes that are only compared with small ones.
inline int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

}  // namespace stowplan
