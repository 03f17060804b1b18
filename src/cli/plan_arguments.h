// SPDX-License-Identifier: Apache-2.0
// The options that say which module is planned and how, which most commands share.
#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/console.h"
#include "stowplan/session.h"

namespace stowplan::cli {

// --target
OptionSpec TargetOption();

// A command's own options, and --module, --target, --xla-version, --allow-unsound and
// --allow-unchecked.
std::vector<OptionSpec> WithPlanOptions(std::vector<OptionSpec> own);

// What the command line says; options that the command does not have are left alone. Names every
// module of many on the console's last line while somebody watches.
PlanOptions PlanOptionsOf(const Arguments& arguments, const Console& console);

}  // namespace stowplan::cli
