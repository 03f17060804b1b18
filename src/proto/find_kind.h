// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "proto/fields.h"

namespace stowplan::proto {

// Which message the bytes are; nothing when there is no module in them.
std::optional<MessageKind> FindKind(std::string_view bytes);

}  // namespace stowplan::proto
