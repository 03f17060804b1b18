// SPDX-License-Identifier: Apache-2.0
// What to compute again so that less is in memory at one place, for a price of each byte there.
//
// Everything that is needed after the place either stays in memory, which costs its size times the
// price, or is computed again from what stays, which costs as much as the computation. The cheapest
// choice is a minimum cut, which decides all nodes that depend on each other together: of two
// values that are computed from each other, neither may be worth dropping alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fit/task.h"
#include "order/flow.h"

namespace stowplan::fit {

// Occurrences whose savings depend on each other.
struct Group {
  std::vector<uint32_t> places;  // ascending
  int64_t bytes = 0;             // less in memory at the place
  double cost = 0;
};

class Chooser {
 public:
  explicit Chooser(const Task& task);

  // Requires the trace of the sequence. `is_banned`: by node. Groups that save nothing are left
  // out. The groups are ordered by their first places.
  std::vector<Group> Choose(std::span<const Node> sequence, const Trace& trace, uint32_t place,
                            double price, std::span<const uint8_t> is_banned);

 private:
  struct Value {
    uint32_t version = kNoVersion;  // the latest at the place
    uint32_t vertex = 0;
    int64_t bytes = 0;       // if it stays
    bool is_needed = false;  // after the place, by what is there anyway
    bool is_lost = false;    // overwritten
  };
  void FindValues(std::span<const Node> sequence, const Trace& trace, uint32_t place);
  void FindOpen(uint32_t place, std::span<const uint8_t> is_banned);
  void Build(double price);
  [[nodiscard]] std::vector<Group> GroupsOf(std::span<const uint8_t> side) const;

  const Task& task_;
  const double scale_;
  std::vector<Value> values_;       // by life
  std::vector<uint32_t> latest_;    // by node: the place of its last occurrence so far
  std::vector<uint8_t> is_read_;    // by node: by what comes before the place
  std::vector<uint8_t> is_open_;    // by node: may be repeated after the place
  std::vector<uint32_t> vertices_;  // by node
  std::vector<Node> reached_;       // nodes that are in the network
  order::Network network_;
};

}  // namespace stowplan::fit
