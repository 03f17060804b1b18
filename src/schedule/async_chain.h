// SPDX-License-Identifier: Apache-2.0
// Chains of async-start, async-update and async-done. Operands may be given later than at the
// start: an update's operands after its first one follow those given so far.
#pragma once

#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan {

// The async-start of the chain that `link` belongs to; none if it cannot be found.
[[nodiscard]] hlo::InstrId AsyncStartOf(const hlo::Module& module, hlo::InstrId link);

// What the chain's operation has been given up to `link`, in order.
[[nodiscard]] std::vector<hlo::InstrId> BoundOperands(const hlo::Module& module, hlo::InstrId link);

// Whether `link` is the first of its chain that has all operands and the result's shape.
[[nodiscard]] bool IsFirstFullyBound(const hlo::Module& module, hlo::InstrId link);

}  // namespace stowplan
