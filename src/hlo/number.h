// SPDX-License-Identifier: Apache-2.0
// Integers as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stowplan::hlo {

inline void AppendNumber(int64_t n, std::string& out) {
  char buffer[24];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), n);
  out.append(buffer, end.ptr);
}

inline void AppendNumbers(std::span<const int64_t> numbers, std::string_view separator,
                          std::string& out) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) out += separator;
    AppendNumber(numbers[i], out);
  }
}

}  // namespace stowplan::hlo
