// SPDX-License-Identifier: Apache-2.0
// HighwayHash, 64 bits: the checksum of Riegeli files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stowplan::executable {

using HighwayKey = std::array<uint64_t, 4>;

[[nodiscard]] uint64_t HighwayHash64(std::string_view bytes, const HighwayKey& key);

}  // namespace stowplan::executable
