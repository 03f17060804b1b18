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

// Whether two arrays of the same dimensions have them in the same order from the innermost
// outwards, those of size 1 apart.
bool HaveSameOrder(const hlo::ShapeTable& shapes, hlo::ShapeId a, hlo::ShapeId b);
// Whether an instruction that is elementwise in operand `k` also leaves the elements in the order
// in which it reads them. A copy to another layout does not, wherever in a fusion it is.
bool KeepsOrderOf(const hlo::Module& module, const Orders& orders, hlo::InstrId id, size_t k);

}  // namespace stowplan
