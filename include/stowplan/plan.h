// SPDX-License-Identifier: Apache-2.0
// A module with its plan: what stowplan/session.h returns, and what everything else looks at.
//
// It never changes once it is made, and copies share their contents, so it can be passed to other
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/best/heap.h"
#include "stowplan/check/finding.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "stowplan/target/target.h"

namespace stowplan {

struct Analysis;  // live/analysis.h; private

// Where a plan comes from.
enum class Origin : uint8_t {
  kGiven,  // it was in the input
  kXla,    // Stowplan made it, as XLA does
  kBest,   // Stowplan made it, as small as it could
};
// "given", "xla", "best"
[[nodiscard]] std::string_view Name(Origin origin);

// Whether every read of the program gets the bytes that the program means.
enum class Soundness : uint8_t { kSound, kUnsound, kUnchecked };
// "sound", "unsound", "unchecked"
[[nodiscard]] std::string_view Name(Soundness soundness);

struct Verdict {
  Soundness soundness = Soundness::kUnchecked;
  // Why it is unchecked.
  std::string reason = "no check was asked for";
  // There was no program, so the plan was checked against the live ranges of its own report.
  bool is_by_report = false;
  // What is wrong, unsound findings first. A sound plan can have findings too, if its report
  // contradicts itself or the program.
  check::Findings findings = {};
  int64_t instructions = 0;  // executed by the check
  int64_t reads = 0;         // checked
};

// What the order of instructions costs. A load is what is in use at once in memory space 0:
// temporaries, the result, and arguments that are overwritten. All other arguments come on top.
struct OrderFacts {
  int64_t given_load = 0;   // in the module's own order
  int64_t load = 0;         // in the order of the plan
  int64_t bound = 0;        // no order needs less
  std::string witness;      // this instruction needs the bound in every order; empty: not known
  int64_t given_bytes = 0;  // memory space 0, planned in the module's own order
  int64_t bytes = 0;        // the same in the order of the plan
  // Of the work between starts and dones of asynchronous operations, in bytes that it touches:
  int64_t overlap = 0;       // all of it
  int64_t lost_overlap = 0;  // what is elsewhere now

  [[nodiscard]] bool is_optimal() const { return load <= bound; }
};

struct PlannedModule {
  std::string name;                              // of its file, or its own
  std::shared_ptr<const hlo::Module> module;     // null: only reports were given
  std::shared_ptr<const report::Report> report;  // the plan; never null
  Origin origin = Origin::kGiven;
  Verdict verdict;

  std::optional<Target> target;          // the machine, where it is known
  std::string release;                   // of XLA, whose rules were used; empty: the plan was given
  std::vector<BestHeap> heaps;           // policy best: what is proved about each memory space
  std::optional<OrderFacts> order = {};  // if the best order was searched for

  // The report files that were read, in the order in which they were given or found.
  std::vector<std::shared_ptr<const Source>> sources;
  std::shared_ptr<const Analysis> analysis;  // null: not needed so far
  Diagnostics notes;                         // notes and warnings from loading or planning

  // Whether Stowplan made the plan.
  [[nodiscard]] bool is_made() const { return origin != Origin::kGiven; }
};

}  // namespace stowplan
