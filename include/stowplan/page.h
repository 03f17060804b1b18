// SPDX-License-Identifier: Apache-2.0
// A plan for people: as text for a terminal, and as a page for a browser.
#pragma once

#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/plan.h"

namespace stowplan {

// What fills the memory at the peak, by kind and by source line, as `stowplan explain` prints it.
// Fails if the live ranges are not known.
[[nodiscard]] Result<std::string> ExplainText(const PlannedModule& planned);

// One HTML file that needs no server and no network. Shows several plans side by side.
[[nodiscard]] Result<std::string> HtmlPage(const std::vector<PlannedModule>& plans);

}  // namespace stowplan
