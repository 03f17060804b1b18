// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "session/fit.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan {

// The changed module: in the format it came in, but as text if arguments are donated, because the
// copies that XLA then adds are in no proto that they could be taken from.
Result<std::string> WriteFitted(const Fitted& fitted);

}  // namespace stowplan
