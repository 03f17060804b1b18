// SPDX-License-Identifier: Apache-2.0
// A fixed set of names and their numbers, looked up by hashing; built by the compiler.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stowplan {

template <size_t kCount>
class NameMap {
 public:
  constexpr explicit NameMap(const std::array<std::string_view, kCount>& names) : names_(names) {
    for (size_t i = 0; i < kCount; ++i) {
      if (names[i].empty()) continue;
      size_t slot = Hash(names[i]) & kMask;
      while (slots_[slot] != 0 && names_[slots_[slot] - 1U] != names[i]) slot = (slot + 1) & kMask;
      // Of equal names the first wins.
      if (slots_[slot] == 0) slots_[slot] = static_cast<uint16_t>(i + 1);
    }
  }

  // The number of `name`, or -1.
  [[nodiscard]] constexpr int Find(std::string_view name) const {
    for (size_t slot = Hash(name) & kMask; slots_[slot] != 0; slot = (slot + 1) & kMask) {
      if (names_[slots_[slot] - 1U] == name) return slots_[slot] - 1;
    }
    return -1;
  }

 private:
  static constexpr size_t kSize = std::bit_ceil(kCount * 4);
  static constexpr size_t kMask = kSize - 1;
  // Length, first, middle and last characters distinguish names of this kind well enough.
  static constexpr size_t Hash(std::string_view s) {
    if (s.empty()) return 0;
    const auto at = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(s[i])); };
    return s.size() * 131 + at(0) * 7919 + at(s.size() / 2) * 1009 + at(s.size() - 1) * 337 +
           at(s.size() / 4) * 4241;
  }

  std::array<std::string_view, kCount> names_;
  std::array<uint16_t, kSize> slots_{};
};

}  // namespace stowplan
