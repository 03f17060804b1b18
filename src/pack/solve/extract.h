// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "stowplan/pack.h"

namespace stowplan::pack {

// The problem that some buffers make by themselves, in one memory. `buffers` are in order; the new
// numbers are their places in it. Of a group, all or none are among them.
Problem Extract(const Problem& problem, std::span<const uint32_t> buffers);

}  // namespace stowplan::pack
