// SPDX-License-Identifier: Apache-2.0
// Counts what the plans of many modules take.
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
  bool is_made = false;  // no plan was given, so Stowplan made it
  size_t findings = 0;   // figures that differ from what is computed
};

struct CountedModules {
  std::vector<CountedModule> modules;
  std::vector<Leftover> leftovers;  // those of the inputs, and modules not read or planned
  Diagnostics first_errors;         // of the first such module
};

enum class MakePlans { kNo, kYes };
// Reads every module, and releases the files of all but the largest. With kYes, plans modules
// without a plan.
CountedModules CountModules(const Inputs& inputs, const PlanOptions& options, MakePlans plans);
// Counts the given plans if any module has one; otherwise plans all modules.
CountedModules CountGivenOrMade(const Inputs& inputs, const PlanOptions& options);

// The first error; null if there is none.
const Diagnostic* FirstError(const Diagnostics& diagnostics);

}  // namespace stowplan
