// SPDX-License-Identifier: Apache-2.0
// The stages from a module to its plan: verify, schedule, analyse, assign, report.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "assign/assignment.h"
#include "live/analysis.h"
#include "session/setting.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/best/heap.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"
#include "stowplan/session.h"

namespace stowplan {

// A module that can be planned.
struct Prepared {
  std::shared_ptr<const hlo::Module> module;  // well-formed, with its schedule
  Setting setting;
  std::shared_ptr<const Analysis> analysis;
  Diagnostics notes;
  // Values that seem to lack a copy, by XLA's rules for who must share a place. Values that are
  // always equal need none: whether a plan is sound, the checker says.
  Diagnostics overwrites;
};
// `planned` needs its module; its report may be null.
Result<Prepared> Prepare(const PlannedModule& planned, const PlanOptions& options);

// What XLA's memory-space pass chose: from the preset that the options name, from the given plan,
// or from the module's own file. Nothing if none of them has it.
Result<std::optional<Preset>> FindPreset(const Prepared& prepared, const PlannedModule& planned,
                                         const PlanOptions& options);

// Plan. If `lead` is not empty, adds a note that starts with it and names the chosen machine and
// release.
Result<PlannedModule> PlanSaying(std::string_view lead, const PlannedModule& planned,
                                 const PlanOptions& options);

// The same for a module that is prepared; `lead` as above.
Result<PlannedModule> PlanPrepared(std::string_view lead, const PlannedModule& planned,
                                   Prepared prepared, const PlanOptions& options);

// The value of PlanOptions::scheduler that asks for a search.
inline constexpr std::string_view kBestOrder = "best";
// Plans a module in its own order and in those that a search finds; the smallest plan wins, and
// among equals the module's own order.
Result<PlannedModule> PlanInBestOrder(std::string_view lead, const PlannedModule& planned,
                                      const PlanOptions& options);

// A plan that is not checked yet.
struct MadePlan {
  Assignment assignment;
  std::vector<BestHeap> heaps;  // policy best
  report::Report report;
};
// Plans by the policy of the options. Fails if two values that are alive at once overlap.
Result<MadePlan> MakePlan(const hlo::Module& module, const Analysis& analysis,
                          const Setting& setting, const std::optional<Preset>& preset,
                          const PlanOptions& options);

// Verifies, analyses and plans a module whose setting is known. This is how a changed program is
// tried.
struct TriedPlan {
  Analysis analysis;
  MadePlan made;
};
Result<TriedPlan> TryPlan(const hlo::Module& module, const Setting& setting,
                          const std::optional<Preset>& preset);

}  // namespace stowplan
