// SPDX-License-Identifier: Apache-2.0
// What would save memory, and how much.
//
// Each piece of advice was tried: the edit was applied to the program, the whole plan was made
// again by the same rules, and the checker found it sound. The saving is the difference between the
// two plans, because peaks move and savings do not add up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/arguments.h"
#include "advise/donate.h"
#include "advise/edit.h"
#include "advise/plan.h"
#include "session/fit.h"
#include "stowplan/session.h"

namespace stowplan::advise {

struct Advice {
  std::vector<Edit> edits;  // usually one; several if they belong together
  Figures after;
  int64_t saved = 0;       // of the allocations in the memory space that was asked about
  int64_t saved_peak = 0;  // of its true peak; can be negative
  std::string what;        // "donate the argument params (4 parameters)"
  std::string how;         // what to write, or which command to run
  std::vector<std::string> notes;
};

// Whether only somebody who changes the compiler can follow it: programs do not choose copies, the
// order of instructions, or places.
[[nodiscard]] bool IsForCompilers(const Advice& advice);

// An argument whose donation was tried, and the result for each of its parameters.
struct DonationAnswer {
  Argument argument;
  std::vector<DonatedPair> pairs;
  std::vector<Refusal> refused;
  std::vector<DonationClash> clashes;
  std::vector<std::string> clash_sources;  // beside them: "train.py:12" of the reader; may be empty
  bool is_donated = false;                 // already
  std::optional<int64_t> saved;            // absent: nothing takes it, or it could not be planned
};

// ": sort.3 (model.py:12) may read it after add.1 is written"; empty if not known.
[[nodiscard]] std::string Reason(const DonationClash& clash, const std::string& source);

struct AdviceReport {
  int64_t space = 0;
  Figures before;
  std::vector<Advice> advice;  // most saved first
  // The best combination that was found; absent if that is a single piece.
  std::optional<Advice> together;
  std::vector<DonationAnswer> donations;
  int64_t tried = 0;
  int64_t untried = 0;               // time ran out
  int64_t unsound = 0;               // saved something, but broke the program
  std::vector<std::string> unknown;  // what is not known, one sentence each
};

// A program that computes some values again.
struct Recomputed {
  hlo::Module module;
  std::vector<FitLine> lines;  // what frees the most first; never empty
  double cost = 0;             // extra work, as a part of the program's
};

struct AdviseOptions {
  int64_t space = 0;
  std::optional<Preset> preset = {};  // of the module as it is
  size_t candidates = 48;             // of each kind of edit, largest values first
  double least = 0;                   // what saves a smaller part of the whole is left out
  OwnCode own = {};                   // which lines are the user's own
  // By number, for parameters that the program does not name; as ArgumentsOf takes them.
  std::vector<std::string> parameter_names = {};
  // Finds what is worth computing again; nothing if nothing is. Absent: not tried (fit_advice.h).
  std::function<std::optional<Recomputed>(const hlo::Module&)> recompute = {};
  std::function<bool()> should_stop = {};
  std::function<void(int64_t done, int64_t total)> progress = {};
};

// Needs a scheduled module without complaints (hlo::Verify). Fails if it cannot be planned.
[[nodiscard]] Result<AdviceReport> Advise(const hlo::Module& module, const Setting& setting,
                                          const AdviseOptions& options);

// The same for a planned module, which provides the setting and the places in fast memory. Savings
// are relative to Stowplan's own plan; if the given plan takes a different size, `unknown` says so.
[[nodiscard]] Result<AdviceReport> AdvisePlanned(const PlannedModule& planned,
                                                 const PlanOptions& plan_options,
                                                 AdviseOptions options);

}  // namespace stowplan::advise
