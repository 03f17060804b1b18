// SPDX-License-Identifier: Apache-2.0
#include "base/stable_sort.h"

#include <numeric>

namespace stowplan {

std::vector<size_t> SortedOrder(size_t count,
                                bool (*is_less)(const void* context, size_t a, size_t b),
                                const void* context) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return is_less(context, a, b); });
  return order;
}

}  // namespace stowplan
