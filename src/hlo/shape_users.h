// SPDX-License-Identifier: Apache-2.0
// Which instruction to point at when something is wrong with a shape.
#pragma once

#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// By shape: the first instruction whose result is, or holds, that shape; none when only the header
// has it.
std::vector<InstrId> FirstUsers(const Module& module);

// For such a list by shape: passes the instruction of each tuple on to the shapes inside it, unless
// they have an earlier one.
void PassToParts(const ShapeTable& shapes, std::vector<InstrId>& users);

}  // namespace stowplan::hlo
