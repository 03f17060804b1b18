// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan {

// The bytes as a zstd frame that says its unpacked size. Fails if there is not enough memory.
[[nodiscard]] Result<std::string> Zstd(std::string_view bytes);

}  // namespace stowplan
