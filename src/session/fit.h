// SPDX-License-Identifier: Apache-2.0
// A program that needs less memory because it computes some values twice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proto/rewrite.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/plan.h"
#include "stowplan/session.h"

namespace stowplan {

// What time is counted in.
enum class CostModel : uint8_t {
  kMachine,  // seconds on a machine of the target's kind
  kPlain,    // bytes moved, or flops at a fixed number for each byte
};

struct FitOptions {
  PlanOptions plan = {};
  std::optional<int64_t> budget = {};  // of memory space 0, in bytes
  double max_cost = 1;                 // extra work, as a part of the program's
  bool uses_order = true;
  bool uses_recompute = true;
  CostModel model = CostModel::kMachine;
  // Called for each way to run the program that is looked at: extra work as a part of the
  // program's, and bytes of memory space 0.
  std::function<void(double cost, int64_t bytes)> on_point = {};
};

// A way to run the program.
struct FitPoint {
  double cost = 0;    // extra work, as a part of the program's
  int64_t bytes = 0;  // of memory space 0, as the model expects it
};

// An instruction that runs more than once.
struct FitRepeat {
  std::string instruction;
  std::string source;   // "train.py:17"; empty: not known
  std::string op_name;  // JAX's name for it; may be empty
  int64_t times = 0;    // besides the first
  int64_t bytes = 0;    // of its results
  double cost = 0;      // all of these, as a part of the program's
};

struct FitFacts {
  int64_t given_bytes = 0;    // planned in the module's own order
  int64_t ordered_bytes = 0;  // in the best order without repetitions
  int64_t bytes = 0;          // of the chosen point, planned
  double cost = 0;            // of the chosen point
  std::vector<FitPoint> curve;
  std::vector<FitRepeat> repeats;  // by instruction, in the order of the first repetition

  // No order and no repetition needs less: arguments and constants that are there all the time, and
  // what is in use when `witness` runs.
  int64_t bound = 0;
  int64_t bound_fixed = 0;  // of these: there all the time
  int64_t bound_own = 0;    // what the witness reads and makes
  std::string witness;
  // The same for the extra work that is allowed: nothing that costs no more needs less.
  int64_t cost_bound = 0;
};

struct Fitted {
  PlannedModule planned;  // the chosen point
  FitFacts facts;
  ProtoOrigins origins;  // of the module's rows, if it was read from a proto; empty: all are there
};
// The cheapest way to run the program that fits into the budget; without a budget, the one of least
// memory whose cost is allowed. If none fits, the one of least memory. Never more memory than in
// the module's own order.
Result<Fitted> Fit(const PlannedModule& planned, const FitOptions& options);

}  // namespace stowplan
