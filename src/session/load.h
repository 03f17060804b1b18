// SPDX-License-Identifier: Apache-2.0
// From the files of a module to its plan. stowplan/session.h puts these steps together.
#pragma once

#include <optional>
#include <string_view>

#include "assign/temporaries.h"
#include "session/inputs.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

// The hint for a module without a plan.
inline constexpr std::string_view kHowToPlan =
    "`stowplan assign` makes and checks one; XLA dumps its own with --xla_dump_to=DIR";

enum class ReadProgram { kNo, kYes };
// The plan in the files, unchanged. Fails if there is none. Files that the user did not name and
// that cannot be read are left out, with a warning.
Result<PlannedModule> LoadGiven(const InputModule& module, InputFiles files, ReadProgram program);
Result<PlannedModule> LoadGiven(const InputModule& module, ReadProgram program);

// Load, without looking for files beside a named one and without completing the report: for
// questions about the files themselves.
Result<PlannedModule> LoadAsIs(const InputModule& module, const PlanOptions& options);

// The same, including files beside a named one.
Result<PlannedModule> LoadBeside(const InputModule& module, const PlanOptions& options);

// Adds live ranges and uses that the report lacks, if they can be found from the program.
PlannedModule Completed(PlannedModule planned, const PlanOptions& options);
// Adds the analysis of the program, if it can be analysed.
PlannedModule Analyzed(PlannedModule planned, const PlanOptions& options);

// What the figures of XLA and JAX count as temporaries, from a plan made as XLA does. Nothing if
// the program cannot be planned.
std::optional<Temporaries> FindTemporaries(const PlannedModule& planned,
                                           const PlanOptions& options);

}  // namespace stowplan
