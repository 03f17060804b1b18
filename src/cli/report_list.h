// SPDX-License-Identifier: Apache-2.0
// The modules of a directory, ranked by memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/listener.h"
#include "cli/report_input.h"
#include "cli/report_json.h"
#include "cli/report_load.h"
#include "cli/report_page.h"

namespace stowplan::cli {

struct ListOptions {
  std::string target;  // empty: guessed for each module
  size_t limit = SIZE_MAX;
  int64_t min_size = 0;
  ReportSort sort = ReportSort::kDefault;
};

using ModuleLoader = std::function<Result<LoadedModule>(InputModule module)>;

// Reads and counts all modules; what cannot be read is added to the leftovers. Shows how far it is
// where somebody watches.
std::vector<ModuleRow> CountModules(Inputs& inputs, const ListOptions& options, Listener& listener,
                                    const ModuleLoader& load);
// The same of plans that are there.
std::vector<ModuleRow> CountModules(Inputs& inputs, const ListOptions& options, Listener& listener);

// Sorts and cuts as the options say; `hidden` are those that are cut.
struct HiddenModules {
  size_t count = 0;
  int64_t bytes = 0;
};
HiddenModules SelectModules(std::vector<ModuleRow>& modules, const ListOptions& options);

std::string ModulesPage(const std::vector<ModuleRow>& modules, const HiddenModules& hidden,
                        const std::string& where);

// A mistake that keeps a module out of the list, on one line.
report::DumpLeftover LeftoverOf(const Diagnostic& diagnostic);

// A line for each leftover, to standard error.
void ShowLeftovers(const Inputs& inputs, Listener& listener);

}  // namespace stowplan::cli
