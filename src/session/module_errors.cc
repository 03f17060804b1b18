// SPDX-License-Identifier: Apache-2.0
#include "session/module_errors.h"

#include <string_view>

namespace stowplan {

Diagnostics ExplainModuleErrors(Diagnostics errors) {
  if (errors.empty() || errors[0].line == 0 || errors[0].line > 2) return errors;
  Diagnostic& first = errors[0];
  for (const std::string_view head :
       {"BufferAssignment:", "HloLiveRange", "Memory Space: ", "Total bytes used: "}) {
    if (!first.excerpt.starts_with(head)) continue;
    first.message = "this is a memory report, not a module";
    first.hint = "`stowplan report` reads it";
    errors.resize(1);
    break;
  }
  return errors;
}

}  // namespace stowplan
