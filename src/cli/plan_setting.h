// SPDX-License-Identifier: Apache-2.0
// How a module is planned: for which machine, by the rules of which XLA, in which order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assign/assignment.h"
#include "assign/rules.h"
#include "assign/temporaries.h"
#include "cli/listener.h"
#include "live/analysis.h"
#include "report/from_assignment.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::cli {

struct PlanOptions {
  std::string file;
  std::string target = {};     // empty: found
  std::string version = {};    // empty: found
  std::string dialect = {};    // empty: the version's
  std::string preset = {};     // a report with places in fast memory
  std::string scheduler = {};  // empty: the one with the least peak
  std::optional<int64_t> heap_limit = {};
  bool has_stats = false;
};

struct Setting {
  Rules rules;
  std::string version;
  report::ReportStyle style;
  std::string words;  // what was chosen, and how that is known; two lines of a note
};

// Whether there is such a release of XLA, or none is named. Else a message with those that there
// are.
bool CheckVersion(const std::string& version, Listener& listener);

// Target and version: as told, or as the module shows them. Nothing, and a message, when that is
// not enough.
std::optional<Setting> Settle(const hlo::Module& module, const PlanOptions& options,
                              Listener& listener);

// What the memory-space pass chose: from the file that was named, or beside the program in its own
// file. Nothing when neither has it.
Result<std::optional<Preset>> FindPreset(const hlo::Module& module, const Analysis& analysis,
                                         const Rules& rules, const PlanOptions& options);

// The module with the schedule that is asked for, else with the one of least peak.
Result<hlo::Module> Scheduled(const hlo::Module& module, const Rules& rules,
                              const PlanOptions& options, Listener& listener);

// A module with a plan of its own.
struct PlannedModule {
  hlo::Module module;  // with its schedule
  Analysis analysis;
  Setting setting;
  report::Report report;
};
// As XLA plans it. Nothing, and messages, when that cannot be done.
std::optional<PlannedModule> PlanAsXla(hlo::Module module, const PlanOptions& options,
                                       Listener& listener);

// The rules by which the plan that is there was made: as told, or as the program or the plan shows
// them. Nothing when they do not, or when the program cannot be planned.
std::optional<Rules> FindRules(const hlo::Module& module, const PlanOptions& options,
                               const report::Report& report);

// What figures count of the temporaries, by a plan of the program as XLA makes it. `report` is the
// plan that is there. Nothing when the program cannot be planned.
std::optional<Temporaries> FindTemporaries(const hlo::Module& module, const PlanOptions& options,
                                           const report::Report& report);

}  // namespace stowplan::cli
