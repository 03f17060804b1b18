// SPDX-License-Identifier: Apache-2.0
// Sizes as the tests of logs write them.
#pragma once

#include <cstdint>
#include <optional>

#include "oom/oom.h"

namespace stowplan::oom {

inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;

// -1: the log does not say.
inline int64_t Bytes(const std::optional<Size>& size) { return size ? size->bytes : -1; }

}  // namespace stowplan::oom
