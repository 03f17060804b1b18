// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan {

// The bytes as a .gz file. Its header has neither a name nor a time, so the same input gives the
// same output. Fails if there is not enough memory.
[[nodiscard]] Result<std::string> Gzip(std::string_view bytes);

}  // namespace stowplan
