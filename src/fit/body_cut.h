// SPDX-License-Identifier: Apache-2.0
// What a loop hands to another one, and what that one computes again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fit/operations.h"

namespace stowplan::fit {

// The body of a loop, which keeps values of each trip for another loop: those `needed`. The other
// loop can compute them again from others. For rising prices of a byte: the operations that it
// repeats, each list longer or different from the one before. Arguments of size 0 are free to read;
// others have to be kept for it.
std::vector<std::vector<uint32_t>> CutBody(const Operations& body,
                                           std::span<const uint32_t> needed);

}  // namespace stowplan::fit
