// SPDX-License-Identifier: Apache-2.0
// HLO text, of every era and as people write it by hand, to a module.
#pragma once

#include <memory>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// On failure: the first kMaxErrors errors.
Result<hlo::Module> ParseText(const std::shared_ptr<const Source>& source);

}  // namespace stowplan
