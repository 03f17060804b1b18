// SPDX-License-Identifier: Apache-2.0
// The options, shared by most commands, that say which module to plan and how.
#pragma once

#include <optional>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "stowplan/session.h"

namespace stowplan::cli {

// --target
OptionSpec TargetOption();

// The command's own options, followed by --module, --target, --xla-version, --allow-unsound and
// --allow-unchecked.
std::vector<OptionSpec> WithPlanOptions(std::vector<OptionSpec> own);

// --overlap
OptionSpec OverlapOption();
// Its value in percent of what may be lost. If it is neither that nor a word, shows an error and
// returns nothing.
std::optional<int64_t> OverlapLossOf(const Arguments& arguments, Console& console);

// Reads these options from the command line, and leaves those that the command does not have at
// their defaults. On a terminal, shows which of many modules is being read.
PlanOptions PlanOptionsOf(const Arguments& arguments, const Console& console);

}  // namespace stowplan::cli
