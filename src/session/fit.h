// SPDX-License-Identifier: Apache-2.0
// A program that needs less memory because it computes some values twice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/work.h"
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
  // Donate arguments where that saves memory. This changes how the program may be called; Fit
  // itself does not do it, advise::FitWithDonations does.
  bool uses_donation = false;
  CostModel model = CostModel::kMachine;
  // The machine of this name; empty: a common one of the target's kind. Figures that are not 0
  // replace its own.
  std::string machine = {};
  double bytes_per_second = 0;
  double flops_per_second = 0;
  // Called for each way to run the program that is looked at: extra work as a part of the
  // program's, and bytes of memory space 0.
  std::function<void(double cost, int64_t bytes)> on_point = {};
};

// What is computed again for one line of the source.
struct FitLine {
  std::string source;      // "train.py:17"; empty: not known
  std::string function;    // that the line is in; empty: not known, or several
  std::string operations;  // "exp, dot_general"; without a source: the instruction
  std::string parts;       // "layers 3 to 12", as the op_names say; may be empty
  int64_t instructions = 0;
  int64_t times = 0;        // they run, besides the first
  int64_t bytes = 0;        // of their results
  int64_t freed = 0;        // of these: no longer kept at the point where memory was fullest
  double cost = 0;          // as a part of the program's work
  bool is_in_loop = false;  // they are inside a loop, whose stacks they fill no more
};

// A way to run the program.
struct FitPoint {
  double cost = 0;    // extra work, as a part of the program's
  int64_t bytes = 0;  // of memory space 0, as the model expects it
  // What is computed again; absent for most points of a long curve.
  std::optional<std::vector<FitLine>> lines = {};
};

// An instruction that runs more than once.
struct FitRepeat {
  std::string instruction;
  std::string source;    // "train.py:17"; empty: not known
  std::string function;  // that the line is in; may be empty
  std::string op_name;   // JAX's name for it; may be empty
  int64_t times = 0;     // besides the first
  int64_t bytes = 0;     // of its results
  int64_t freed = 0;     // of these: no longer kept at the point where memory was fullest
  double cost = 0;       // all of these, as a part of the program's
  bool is_in_loop = false;
};

// Values that fill the memory at the chosen point's peak, by what keeps them there.
struct FitObstacle {
  std::string_view kind;   // "result"
  std::string_view words;  // "parts of the result"
  int64_t bytes = 0;
  int64_t values = 0;
  std::string largest;  // the instruction that made the largest of them
  int64_t largest_bytes = 0;
  std::string source;  // its line; may be empty
};

// An argument that is donated.
struct FitDonation {
  std::string name;                 // "state"; empty: not known
  std::vector<int64_t> parameters;  // of the program, by number
};

struct FitFacts {
  int64_t given_bytes = 0;    // planned in the module's own order
  int64_t ordered_bytes = 0;  // in the best order without repetitions
  int64_t bytes = 0;          // of the chosen point, planned
  double cost = 0;            // of the chosen point
  std::vector<FitPoint> curve;
  std::vector<FitRepeat> repeats;  // by instruction, in the order of the first repetition

  std::string machine;  // whose figures were used; empty: none
  cost::Work work;      // of the program as it was given
  double seconds = 0;   // that this takes by those figures; 0: none were used
  // What is donated, how that is written in JAX, and what the program takes then in its own order.
  std::vector<FitDonation> donated;
  std::string donation_spelling;
  int64_t donated_bytes = 0;

  // When the chosen point needs the most, and what stands in the way of less, the largest first.
  std::string fullest;
  std::vector<FitObstacle> obstacles;

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
