// SPDX-License-Identifier: Apache-2.0
// Hashes for tables inside one run. They never reach an output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stowplan {

inline uint64_t MixHash(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29U);
}

inline uint64_t HashBytes(std::string_view bytes) {
  uint64_t h = 0x2545F4914F6CDD1DULL ^ bytes.size();
  const char* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, 8);
    h = MixHash(h, word);
  }
  if (n != 0) {
    uint64_t word = 0;
    std::memcpy(&word, p, n);
    h = MixHash(h, word);
  }
  return h ^ (h >> 32U);
}

}  // namespace stowplan
