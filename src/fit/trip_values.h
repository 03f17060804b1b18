// SPDX-License-Identifier: Apache-2.0
// What the counters of a loop are in each trip, found by counting.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::fit {

// Longer loops are not looked at.
inline constexpr int64_t kMostTrips = 1 << 16;

// Where an instruction of a fused computation runs: its parameters are operands of `caller`.
struct Scope {
  hlo::InstrId caller;
  const Scope* outer = nullptr;  // where the caller runs; none: in the loop's body
};

class TripValues {
 public:
  // Requires a loop over a tuple. Counts as long as the condition holds, which must depend on
  // nothing but counters: elements that begin with a constant, and whose next values depend on
  // themselves and on constants.
  TripValues(const hlo::Module& module, hlo::InstrId loop);

  // None: not known.
  [[nodiscard]] std::optional<int64_t> trips() const { return trips_; }
  [[nodiscard]] bool IsCounter(int64_t element) const { return counters_.contains(element); }
  // By trip. Requires a counter.
  [[nodiscard]] const std::vector<int64_t>& CounterOf(int64_t element) const {
    return counters_.at(element);
  }
  // By trip, the value of a scalar that is computed from counters and constants; empty if it is
  // not. `scope` none: an instruction of the body.
  [[nodiscard]] std::vector<int64_t> Find(hlo::InstrId id, const Scope* scope) const;

 private:
  using Elements = std::map<int64_t, int64_t>;
  [[nodiscard]] std::optional<int64_t> Evaluate(hlo::InstrId id, const Scope* scope,
                                                const Elements& elements) const;
  void Count();

  const hlo::Module& module_;
  const hlo::InstrId loop_;
  std::optional<int64_t> trips_;
  std::map<int64_t, std::vector<int64_t>> counters_;
};

// The one instruction that a computation has besides parameters, which are its operands in this
// order; none otherwise. Asynchronous operations call such computations.
hlo::InstrId OnlyInstruction(const hlo::Module& module, hlo::CompId computation);

}  // namespace stowplan::fit
