// SPDX-License-Identifier: Apache-2.0
// From the files of a module to its plan. stowplan/session.h has the usual way; these are its
// parts.
#pragma once

#include <optional>
#include <string_view>

#include "assign/temporaries.h"
#include "session/inputs.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

// What to do about a module that has no plan.
inline constexpr std::string_view kHowToPlan =
    "`stowplan assign` makes and checks one; XLA dumps its own with --xla_dump_to=DIR";

enum class ReadProgram { kNo, kYes };
// The plan that the files hold, as they hold it. Fails when there is none. Files that only lie near
// by and cannot be read are left out, with a warning.
Result<PlannedModule> LoadGiven(const InputModule& module, InputFiles files, ReadProgram program);
Result<PlannedModule> LoadGiven(const InputModule& module, ReadProgram program);

// What Load does, without looking for further files beside a named one, and without completing the
// report: for those who ask about the files themselves.
Result<PlannedModule> LoadAsIs(const InputModule& module, const PlanOptions& options);

// The same, with the files that lie beside a named one.
Result<PlannedModule> LoadBeside(const InputModule& module, const PlanOptions& options);

// Live ranges and uses that the report lacks, from the program, where that allows it.
PlannedModule Completed(PlannedModule planned, const PlanOptions& options);
// With the analysis of the program, where that allows it.
PlannedModule Analyzed(PlannedModule planned, const PlanOptions& options);

// What figures count of the temporaries, by a plan of the program as XLA makes it. Nothing when the
// program cannot be planned.
std::optional<Temporaries> FindTemporaries(const PlannedModule& planned,
                                           const PlanOptions& options);

}  // namespace stowplan
