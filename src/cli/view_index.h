// SPDX-License-Identifier: Apache-2.0
// stowplan view of many modules: a page for each, and one that lists them.
#pragma once

#include <string>

#include "cli/console.h"
#include "cli/report_input.h"
#include "cli/view_scene.h"

namespace stowplan::cli {

// Writes the pages into `folder`, which is made; index.html last, so that what it names is there.
// What cannot be shown is listed with the reason. The exit code.
int ViewIndex(Inputs inputs, const std::string& folder, const std::string& title,
              const ViewOptions& options, Console& console);

}  // namespace stowplan::cli
