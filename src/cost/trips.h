// SPDX-License-Identifier: Apache-2.0
// How often the body of a loop runs.
#pragma once

#include <cstdint>
#include <optional>

#include "stowplan/hlo/module.h"

namespace stowplan::cost {

// What XLA found out about a loop (`known_trip_count` in its backend configuration). Nothing if
// XLA does not say.
[[nodiscard]] std::optional<int64_t> KnownTrips(const hlo::Module& module, hlo::InstrId loop);

}  // namespace stowplan::cost
