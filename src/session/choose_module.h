// SPDX-License-Identifier: Apache-2.0
// Which modules of an input are meant.
#pragma once

#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

// The name without folder and number: "jit_step" for "dump/module_0003.jit_step".
std::string_view OwnName(std::string_view name);

// How well a module's name fits what is asked for; those that fit best are meant.
enum class Likeness {
  kNone,
  kPart,   // has it somewhere in its name
  kBegin,  // up to a dot: "jit_step" for "jit_step.v5e"
  kWhole,
};
Likeness LikenessOf(const InputModule& module, std::string_view wanted);

// The modules that are meant: those that the options name, or all that have a plan. Modules without
// a plan count where there are no others, or where the name fits one of them best: a plan is made
// for them, so they are leftovers no more. May be empty when no name is given; fails when none has
// the name.
Result<Inputs> ChooseModules(Inputs inputs, const PlanOptions& options);

// A warning for each leftover.
Diagnostics LeftoverWarnings(const std::vector<Leftover>& leftovers);
// A mistake that keeps a module out of a list, on one line.
Leftover LeftoverOf(const Diagnostic& diagnostic);

}  // namespace stowplan
