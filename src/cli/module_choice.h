// SPDX-License-Identifier: Apache-2.0
// Which modules of an input are meant: those that --module names, those with a plan, or all.
#pragma once

#include <string>
#include <string_view>

#include "cli/listener.h"
#include "cli/report_input.h"

namespace stowplan::cli {

// The name without folder and number: "jit_step" of "dump/module_0003.jit_step".
std::string_view OwnName(std::string_view name);

// How well a module's name is what --module asks for; the best that there are, are meant.
enum class Likeness {
  kNone,
  kPart,   // has it somewhere in its name
  kBegin,  // up to a dot: "jit_step" of "jit_step.v5e"
  kWhole,
};
Likeness LikenessOf(const InputModule& module, std::string_view wanted);

// Keeps the modules that --module means: those whose names are most like it. False, and a message,
// when there are none.
bool FilterModules(const std::string& wanted, Inputs& inputs, Listener& listener);

// Modules without a plan count as well where there is no other, or when what is wanted is more like
// the name of one of them than of all with a plan: a plan is made for them. They are leftovers no
// more.
void AddPrograms(const std::string& wanted, Inputs& inputs);

}  // namespace stowplan::cli
