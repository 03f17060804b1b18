// SPDX-License-Identifier: Apache-2.0
// What the plans of many modules take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/summary.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

// A module, read and counted.
struct CountedModule {
  InputModule input;
  report::Summary summary;
  report::Backend backend = report::Backend::kUnknown;
  bool is_made = false;  // no plan was given: it is Stowplan's
  size_t findings = 0;   // figures that differ from their computation
};

struct CountedModules {
  std::vector<CountedModule> modules;
  std::vector<Leftover> leftovers;  // those of the inputs, and what could not be read or planned
  Diagnostics first_errors;         // of the first module that could not
};

enum class MakePlans { kNo, kYes };
// Reads every module, and lets go of the files of all but the largest. With kYes, modules without a
// plan get one.
CountedModules CountModules(const Inputs& inputs, const PlanOptions& options, MakePlans plans);
// What each module's plan says, where any has one; else plans are made for all.
CountedModules CountGivenOrMade(const Inputs& inputs, const PlanOptions& options);

// The first error among notes; null when there is none.
const Diagnostic* FirstError(const Diagnostics& diagnostics);

}  // namespace stowplan
