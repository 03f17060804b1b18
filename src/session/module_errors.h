// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stowplan/base/diagnostic.h"

namespace stowplan {

// Improves the errors from reading a module: for one of XLA's memory reports, says only that it is
// one.
Diagnostics ExplainModuleErrors(Diagnostics errors);

}  // namespace stowplan
