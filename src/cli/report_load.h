// SPDX-License-Identifier: Apache-2.0
// From the files of a module to its report and its program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report_input.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::cli {

struct LoadedModule {
  std::string name;
  report::Report report;
  std::optional<hlo::Module> program;
  // Report files that were read, in the order in which they were given or found.
  std::vector<std::shared_ptr<const Source>> sources;
  // One for each file that could not be read and was left out.
  Diagnostics problems = {};
  bool is_ours = false;     // no plan was given: it is Stowplan's, by XLA's rules
  std::string target = {};  // for which it was then made
};

enum class Program { kLeaveOut, kRead };

// What to do about a module that has none.
inline constexpr std::string_view kHowToPlan =
    "`stowplan assign` makes and checks one; XLA dumps its own with --xla_dump_to=DIR";

Result<LoadedModule> Load(InputModule module, Program program);

// What the files say otherwise than it is computed, and what makes one of them doubtful.
Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources);

}  // namespace stowplan::cli
