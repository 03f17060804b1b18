// SPDX-License-Identifier: Apache-2.0
// The stages from a module to its plan, put together once: verify, schedule, analyse, assign,
// report.
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
};
// `planned` needs its module; its report may be null.
Result<Prepared> Prepare(const PlannedModule& planned, const PlanOptions& options);

// What XLA's memory-space pass chose: from the preset that the options name, from the plan that is
// there, or from the module's own file. Nothing when none of them has it.
Result<std::optional<Preset>> FindPreset(const Prepared& prepared, const PlannedModule& planned,
                                         const PlanOptions& options);

// What Plan does. Where `lead` is not empty, a note begins with it and goes on with the machine and
// the release that were chosen.
Result<PlannedModule> PlanSaying(std::string_view lead, const PlannedModule& planned,
                                 const PlanOptions& options);

// A plan that nobody has checked yet.
struct MadePlan {
  Assignment assignment;
  std::vector<BestHeap> heaps;  // policy best
  report::Report report;
};
// By the policy of the options. Fails when two values that are alive at once lie over each other.
Result<MadePlan> MakePlan(const hlo::Module& module, const Analysis& analysis,
                          const Setting& setting, const std::optional<Preset>& preset,
                          const PlanOptions& options);

// The same from a module whose setting is known, which is verified and analysed first: how a
// changed program is tried.
struct TriedPlan {
  Analysis analysis;
  MadePlan made;
};
Result<TriedPlan> TryPlan(const hlo::Module& module, const Setting& setting,
                          const std::optional<Preset>& preset);

}  // namespace stowplan
