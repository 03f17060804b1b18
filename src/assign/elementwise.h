// SPDX-License-Identifier: Apache-2.0
// Instructions whose i-th result depends only on the i-th element of an operand: they can write
// over it.
#pragma once

#include "schedule/orders.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// In all operands. A fusion is elementwise if everything in it is.
bool IsElementwise(const hlo::Module& module, hlo::InstrId id);
// In operand `k`.
bool IsElementwiseOn(const hlo::Module& module, const Orders& orders, hlo::InstrId id, size_t k);

}  // namespace stowplan
