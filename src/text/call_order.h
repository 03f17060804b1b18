// SPDX-License-Identifier: Apache-2.0
// Computations that stand after their callers. XLA prints such texts: a condition that an inner
// and an outer loop share comes after the outer loop's body. Everyone else wants callees first.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stowplan/hlo/module.h"
#include "text/reader.h"

namespace stowplan::text {

// The order in which to read the computations that were written (`written`, ascending), so that
// each comes after all it calls, and otherwise as written: rows of `written`. Adds errors, and
// returns nothing, if a call names no computation, or a computation calls itself.
std::optional<std::vector<size_t>> CallOrder(Reader& reader, std::span<const hlo::CompId> written);

}  // namespace stowplan::text
