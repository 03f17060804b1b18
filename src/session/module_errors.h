// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stowplan/base/diagnostic.h"

namespace stowplan {

// Errors of reading a module. When the file is one of XLA's memory reports, says only that.
Diagnostics ExplainModuleErrors(Diagnostics errors);

}  // namespace stowplan
