// SPDX-License-Identifier: Apache-2.0
// Chooses the modules of an input that the options mean.
#pragma once

#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

// The name without folder and number: "jit_step" for "dump/module_0003.jit_step".
std::string_view OwnName(std::string_view name);

// How well a module's name matches the wanted one. The best matches are chosen.
enum class Likeness {
  kNone,
  kPart,   // somewhere in the name
  kBegin,  // the name up to a dot: "jit_step" for "jit_step.v5e"
  kWhole,
};
Likeness LikenessOf(const InputModule& module, std::string_view wanted);

// The modules that the options name, or all that have a plan. Modules without a plan are chosen if
// there are no others, or if one of them matches the name best: they will be planned, so they are
// no longer leftovers. May return none if no name is given; fails if no module has the name.
Result<Inputs> ChooseModules(Inputs inputs, const PlanOptions& options);

// A warning for each leftover.
Diagnostics LeftoverWarnings(const std::vector<Leftover>& leftovers);
// An error that keeps a module out of a list, as one line.
Leftover LeftoverOf(const Diagnostic& diagnostic);

}  // namespace stowplan
