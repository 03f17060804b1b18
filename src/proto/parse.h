// SPDX-License-Identifier: Apache-2.0
// HloProto, HloModuleProto and the messages that wrap them, to a module.
#pragma once

#include <memory>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// Whether the bytes look like one of these messages rather than text.
bool LooksLikeProto(const Source& source);

// On failure: the first kMaxErrors errors, each with byte offset and field path.
Result<hlo::Module> ParseProto(std::shared_ptr<const Source> source);

}  // namespace stowplan
