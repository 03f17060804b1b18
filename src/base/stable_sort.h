// SPDX-License-Identifier: Apache-2.0
// A stable sort that is cheap to compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace stowplan {

// The numbers from 0 to `count`, sorted. `is_less(context, a, b)` compares two of them.
[[nodiscard]] std::vector<size_t> SortedOrder(
    size_t count, bool (*is_less)(const void* context, size_t a, size_t b), const void* context);

// std::ranges::stable_sort for a vector. The standard's own is compiled anew for every comparison,
// which takes a quarter of a second each time. Here only the comparison is compiled, and called
// through a pointer. Inner loops, and vectors of numbers without a comparison, are better served by
// the standard's.
template <class T, class Less = std::ranges::less, class Key = std::identity>
void StableSort(std::vector<T>& rows, Less less = {}, Key key = {}) {
  const auto compare = [&](size_t a, size_t b) -> bool {
    return std::invoke(less, std::invoke(key, rows[a]), std::invoke(key, rows[b]));
  };
  using Compare = decltype(compare);
  const std::vector<size_t> order = SortedOrder(
      rows.size(),
      [](const void* context, size_t a, size_t b) {
        return (*static_cast<Compare*>(context))(a, b);
      },
      &compare);
  std::vector<T> sorted;
  sorted.reserve(rows.size());
  for (const size_t i : order) sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

}  // namespace stowplan
