// SPDX-License-Identifier: Apache-2.0
// A stretch of an order as a problem of its own: what comes before it stays before, and what comes
// after it stays after. Loads outside do not depend on the order inside, so a better stretch never
// makes the whole worse, and finding it costs only as much as the stretch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "order/problem.h"

namespace stowplan::order {

// An order that changes by stretches.
class StretchedOrder {
 public:
  StretchedOrder(const Problem& problem, Order order, Loads loads);

  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] const Loads& loads() const { return loads_; }

  // The places from `first` to before `last`. Its nodes are numbered in their order; its loads are
  // those of the whole order.
  [[nodiscard]] Problem ProblemOf(uint32_t first, uint32_t last);
  // Puts these places into a different order, given in the numbers of that problem, with its loads.
  void Replace(uint32_t first, std::span<const Node> order, std::span<const int64_t> loads);

 private:
  void FindPeak();

  const Problem* problem_;
  Order order_;
  Loads loads_;                        // capped_peak is a limit that was never exceeded
  std::vector<uint32_t> places_;       // by node
  std::vector<uint32_t> last_places_;  // by life: where it is touched last
  std::vector<uint32_t> numbers_;      // by life: its number in the problem that is being made
};

}  // namespace stowplan::order
