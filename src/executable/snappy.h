// SPDX-License-Identifier: Apache-2.0
// Snappy's raw format, in which Riegeli files may be packed. Read only: Stowplan writes unpacked
// files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stowplan::executable {

// Nothing if the bytes are damaged or would need more than `max_size` bytes.
[[nodiscard]] std::optional<std::string> Unsnappy(std::string_view bytes, size_t max_size);

}  // namespace stowplan::executable
