// SPDX-License-Identifier: Apache-2.0
// The values that arrive at one position from its inputs, kept up to date input by input: a
// computation that is called n times receives its arguments one after another, and gathering all n
// of them each time would cost n * n.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "values/value_rows.h"

namespace stowplan {

class Arrivals {
 public:
  explicit Arrivals(size_t inputs) : slots_(inputs) {}

  // The input holds `slot` now, and counts `weight` times. The weight of an input never changes.
  void Update(const ValueRows& rows, size_t input, ValueId slot, uint32_t weight);
  // Call after updates: finds what they changed.
  void Finish();
  // Values that have arrived since the last updates, in the order of the inputs; and those that are
  // gone.
  [[nodiscard]] std::span<const ValueId> added() const { return added_; }
  [[nodiscard]] bool has_changed() const { return !added_.empty() || has_lost_; }
  [[nodiscard]] bool has_lost() const { return has_lost_; }

  // How many values arrive; one that arrives twice counts twice.
  [[nodiscard]] uint64_t total() const { return total_; }
  // The value, if exactly one arrives.
  [[nodiscard]] ValueId only() const { return ValueId(static_cast<size_t>(sum_)); }
  // Each value once: by number, and in the order of the inputs.
  [[nodiscard]] std::vector<ValueId> Sorted() const;
  [[nodiscard]] std::vector<ValueId> InOrder(const ValueRows& rows) const;

 private:
  struct Count {
    uint64_t count = 0;
    bool was_here = false;  // before the updates
    bool is_touched = false;
  };
  Count& Touch(ValueId id);
  void Add(std::span<const ValueId> values, uint32_t weight);
  void Remove(std::span<const ValueId> values, uint32_t weight);

  std::vector<ValueId> slots_;  // by input
  std::unordered_map<uint32_t, Count> counts_;
  std::vector<ValueId> touched_;
  std::vector<ValueId> added_;
  bool has_lost_ = false;
  uint64_t total_ = 0;
  uint64_t sum_ = 0;  // of the numbers of all that arrive; if one arrives, its number
};

}  // namespace stowplan
