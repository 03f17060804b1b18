// SPDX-License-Identifier: Apache-2.0
// The machine a module was compiled for, and the version of XLA, as far as the module shows.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/backend.h"
#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan {

struct TargetGuess {
  Backend backend = Backend::kUnknown;
  // Absent if the back end has several generations and the module does not show which one it is.
  std::optional<Target> target;
  std::string_view reason;  // "the file's name", ...
};
// `file` is the module's file name; XLA puts the back end in it.
TargetGuess GuessTarget(const hlo::Module& module, std::string_view file);

// The newest XLA that writes a text like this one; for protos, the newest of all. A name of
// hlo/dialect.h. With `may_be`, the newest of those for which that is true; empty if there is none.
std::string_view GuessVersion(const hlo::Module& module, Backend backend,
                              const std::function<bool(std::string_view)>& may_be = {});

}  // namespace stowplan
