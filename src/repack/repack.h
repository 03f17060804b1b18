// SPDX-License-Identifier: Apache-2.0
// A serialized executable with a lower plan.
//
// Nothing is trusted. The executable's own plan must be what Stowplan makes by XLA's rules; every
// slice of every thunk is resolved to a value and written back; the new bytes are decoded again,
// the checker must call their plan sound, and the thunks must compute what the original's do
// (executable/thunk_check.h). Otherwise the answer is a refusal, with the reasons.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "session/fit.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

namespace stowplan::repack {

struct RepackOptions {
  bool reorders = true;      // other orders of instructions, too
  std::string release = {};  // of XLA; empty: detected
  // What all allocations together may need, in bytes. With a budget, as much is computed again as
  // that takes; with a most cost alone, as much as that allows; with neither, nothing.
  std::optional<int64_t> budget = {};
  std::optional<double> max_cost = {};  // extra work, as a part of the program's
  std::function<bool()> should_stop = {};
};

struct Repacked {
  std::string module;
  std::string bytes;                  // the new executable; empty: none is lower, or it was refused
  std::vector<std::string> refusals;  // why no other plan could be used
  // Heaps of temporaries together.
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  int64_t bound = 0;  // for the order that was chosen; 0: not known
  int64_t moved_values = 0;
  int64_t moved_thunks = 0;  // thunks that run in another place of the order
  // What is computed again.
  int64_t copied_thunks = 0;
  double cost = 0;                 // extra work, as a part of the program's, as the model has it
  std::vector<FitRepeat> repeats;  // by instruction, in the order of the first repetition
  int64_t fixed_bytes = 0;         // of all other allocations: arguments, results, constants
  std::optional<int64_t> budget = {};  // that was asked for

  [[nodiscard]] bool fits() const {
    return !budget || SaturatingAdd(fixed_bytes, bytes_after) <= *budget;
  }
};

// Fails if the source is not an executable or damaged; a refusal is no failure.
[[nodiscard]] Result<Repacked> Repack(std::shared_ptr<const Source> source,
                                      const RepackOptions& options);

}  // namespace stowplan::repack
