// SPDX-License-Identifier: Apache-2.0
// Sorts rows by integers, in time linear in the number of rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stowplan {

// Ascending, stable. `key` gives an unsigned number of 64 bits; only digits in which keys differ
// are looked at, so small numbers are cheap.
template <class Row, class Key>
void RadixSort(std::vector<Row>& rows, Key key) {
  constexpr size_t kFew = 128;
  if (rows.size() < kFew) {
    std::ranges::stable_sort(rows, {}, key);
    return;
  }
  const uint64_t first = key(rows[0]);
  uint64_t differs = 0;
  bool is_sorted = true;
  uint64_t last = first;
  for (const Row& row : rows) {
    const uint64_t k = key(row);
    differs |= k ^ first;
    is_sorted = is_sorted && last <= k;
    last = k;
  }
  if (is_sorted) return;
  constexpr unsigned kBits = 11;
  constexpr uint64_t kDigit = (uint64_t{1} << kBits) - 1;
  std::vector<Row> other(rows.size());
  for (unsigned shift = 0; shift < 64 && (differs >> shift) != 0; shift += kBits) {
    if (((differs >> shift) & kDigit) == 0) continue;
    std::array<size_t, kDigit + 1> places{};
    for (const Row& row : rows) ++places[(key(row) >> shift) & kDigit];
    size_t sum = 0;
    for (size_t& place : places) sum += std::exchange(place, sum);
    for (Row& row : rows) other[places[(key(row) >> shift) & kDigit]++] = std::move(row);
    rows.swap(other);
  }
}

// Signed numbers in the order of unsigned ones.
[[nodiscard]] constexpr uint64_t RadixKey(int64_t number) {
  return static_cast<uint64_t>(number) ^ (uint64_t{1} << 63U);
}

}  // namespace stowplan
