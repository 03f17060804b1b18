// SPDX-License-Identifier: Apache-2.0
// Loops whose bodies update several arrays in one fusion.
#pragma once

#include <optional>

#include "hlo/separate_fusions.h"
#include "stowplan/hlo/module.h"

namespace stowplan::fit {

struct SplitModule {
  hlo::Module module;
  hlo::Origins origins;  // rows of the given module
};
// Where a fusion has several results, and one is an element of a loop with a slice of it changed,
// the change becomes a fusion of its own, so that it can be left out alone. Loops and their
// elements stay as they are. Nothing if there is no such fusion.
std::optional<SplitModule> SplitUpdates(const hlo::Module& module);

}  // namespace stowplan::fit
