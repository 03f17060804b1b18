// SPDX-License-Identifier: Apache-2.0
// A module in the order of least memory: its entry, and what it calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "assign/rules.h"
#include "order/find_problem.h"
#include "order/graph.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::order {

struct ReorderOptions {
  // How much of the work between starts and dones of asynchronous operations may move elsewhere, in
  // percent. 0: all of it stays.
  int64_t overlap_loss = 0;
  Objective objective = Objective::kAll;
  std::function<bool()> should_stop;
  bool is_quick = false;   // a small effort; `should_stop` is not asked
  bool certifies = false;  // write down what proves the answers
};

// What became of a computation.
struct ReorderedComputation {
  hlo::CompId computation;
  int64_t given_peak = 0;
  int64_t peak = 0;
  int64_t bound = 0;     // no order of the computation has a lower peak
  hlo::InstrId witness;  // the instruction that has no smaller load in any order
  // Bytes touched by the work between starts and dones, and how many of them moved elsewhere.
  int64_t overlap = 0;
  int64_t lost_overlap = 0;
  std::string certificate;  // a section (order/certificate.h), if it was asked for

  [[nodiscard]] bool is_changed() const { return peak < given_peak; }
};

struct Reordered {
  hlo::Module module;
  std::vector<ReorderedComputation> computations;  // callees first; the entry is last
};

// Requires a scheduled module without complaints (hlo::Verify).
Result<Reordered> Reorder(const hlo::Module& module, const Rules& rules,
                          const ReorderOptions& options);

// Whether another schedule of the same module keeps what Reorder keeps: dependencies, the order of
// effects, roots at the end, and the work between starts and dones. (What overwrites values before
// they are read is for the checker to find.)
bool KeepsWhatIsKept(const hlo::Module& given, const hlo::Module& other);

// The peak of a module's own order, by Objective::kAll.
Result<int64_t> FindPeak(const hlo::Module& module, const Analysis& analysis, const Rules& rules);

}  // namespace stowplan::order
