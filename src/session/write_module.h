// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "proto/rewrite.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// The module with its present schedule, in the format it was read from.
Result<std::string> WriteModule(const hlo::Module& module);
// The same with copies of instructions; `origins` are only needed for protos.
Result<std::string> WriteModule(const hlo::Module& module, const ProtoOrigins& origins);

}  // namespace stowplan
