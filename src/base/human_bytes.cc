// SPDX-License-Identifier: Apache-2.0
#include "base/human_bytes.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace stowplan {

std::string HumanBytes(int64_t bytes) {
  constexpr std::string_view kUnits = "KMGTPE";
  // In unsigned arithmetic the smallest number has a negative, too.
  const std::string sign = bytes < 0 ? "-" : "";
  uint64_t n =
      bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  if (n < 1024) return sign + std::to_string(n) + "B";
  size_t unit = 0;
  while (n >= 1024 * 1024) {
    n /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), unit == 0 ? "%.1f" : "%.2f",
                                   static_cast<double>(n) / 1024.0);
  return sign + std::string(text.data(), static_cast<size_t>(length)) + kUnits[unit] + "iB";
}

std::string HumanAndExactBytes(int64_t bytes) {
  if (bytes > -1024 && bytes < 1024) return HumanBytes(bytes);
  return HumanBytes(bytes) + " (" + std::to_string(bytes) + ")";
}

std::string CountOf(int64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace stowplan
