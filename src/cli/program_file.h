// SPDX-License-Identifier: Apache-2.0
// Files of modules, for commands that look at programs and not at plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "stowplan/session.h"

namespace stowplan::cli {

// `path` itself; of a directory, the file of the module that the options name, or the largest.
// If there is none, shows an error and returns nothing.
std::optional<std::string> ProgramFile(const std::string& path, const PlanOptions& options,
                                       Console& console);

// The same paths, with the files of all modules in place of a directory.
std::optional<std::vector<std::string>> ProgramFiles(const std::vector<std::string>& paths,
                                                     Console& console);

}  // namespace stowplan::cli
