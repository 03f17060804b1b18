// SPDX-License-Identifier: Apache-2.0
// What would save memory, by how much.
//
// Each piece of advice was tried: the edit was applied to the program, the whole plan was made
// again by the same rules, and the checker found it sound. What is stated is the difference of the
// two plans, since peaks move and savings do not add.
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
#include "stowplan/session.h"

namespace stowplan::advise {

struct Advice {
  std::vector<Edit> edits;  // one; more for what is best done together
  Figures after;
  int64_t saved = 0;       // of the allocations in the memory space that was asked about
  int64_t saved_peak = 0;  // of its true peak; can be less than 0
  std::string what;        // "donate the argument params (4 parameters)"
  std::string how;         // what to write, or which command to run
  std::vector<std::string> notes;
};

// An argument that was tried for donation, and what each of its parameters met.
struct DonationAnswer {
  Argument argument;
  std::vector<DonatedPair> pairs;
  std::vector<Refusal> refused;
  std::vector<DonationClash> clashes;
  std::vector<std::string> clash_sources;  // beside them: "train.py:12" of the reader; may be empty
  bool is_donated = false;                 // it is already
  std::optional<int64_t> saved;            // absent: nothing takes it, or it could not be planned
};

// ": sort.3 (model.py:12) may read it after add.1 is written"; empty when not known.
[[nodiscard]] std::string Reason(const DonationClash& clash, const std::string& source);

struct AdviceReport {
  int64_t space = 0;
  Figures before;
  std::vector<Advice> advice;  // most saved first
  // The best that was found by doing one after the other; absent when that is one piece alone.
  std::optional<Advice> together;
  std::vector<DonationAnswer> donations;
  int64_t tried = 0;
  int64_t untried = 0;               // time ran out
  int64_t unsound = 0;               // saved something, but the program would not have run right
  std::vector<std::string> unknown;  // what could not be known, a sentence each
};

struct AdviseOptions {
  int64_t space = 0;
  std::optional<Preset> preset = {};  // of the module as it is
  size_t candidates = 48;             // of each kind of edit, largest values first
  // By number, for parameters that the program does not name; as ArgumentsOf takes them.
  std::vector<std::string> parameter_names = {};
  std::function<bool()> should_stop = {};
  std::function<void(int64_t done, int64_t total)> progress = {};
};

// Needs a scheduled module without complaints (hlo::Verify). Fails when it has no plan.
[[nodiscard]] Result<AdviceReport> Advise(const hlo::Module& module, const Setting& setting,
                                          const AdviseOptions& options);

// The same for a planned module, whose setting and places in fast memory are found. What is saved
// is counted against Stowplan's own plan; where the given one takes other bytes, `unknown` says so.
[[nodiscard]] Result<AdviceReport> AdvisePlanned(const PlannedModule& planned,
                                                 const PlanOptions& plan_options,
                                                 AdviseOptions options);

}  // namespace stowplan::advise
