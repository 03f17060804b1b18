// SPDX-License-Identifier: Apache-2.0
// A module's proto with a different schedule.
#pragma once

#include <string>

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// The bytes that the module was read from, with its present schedule. All else stays as it was, but
// for the buffer assignment, which belonged to the old schedule and is left out. Requires a module
// that was read from a proto, with the same instructions.
Result<std::string> WriteProtoWithSchedule(const hlo::Module& module);

}  // namespace stowplan
