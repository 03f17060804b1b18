// SPDX-License-Identifier: Apache-2.0
// HloModuleProto.
#pragma once

#include <string_view>

#include "proto/context.h"

namespace stowplan::proto {

// Fills the context's module. Returns the entry computation; none when there was an error.
hlo::CompId ReadModule(Context& context, std::string_view bytes);

}  // namespace stowplan::proto
