// SPDX-License-Identifier: Apache-2.0
// A plan as a picture: time across, offset up.
#pragma once

#include <string>

#include "pack/csv.h"
#include "stowplan/pack.h"

namespace stowplan::pack {

// One panel for each pool. The largest pieces are rectangles that say who they are; what is left of
// many thousands is drawn as shade, so that any picture opens. The load is a curve, the height a
// line. The same plan always gives the same bytes. Needs a plan that CheckPlan passes.
std::string DrawPlan(const Table& table, const Plan& plan);

}  // namespace stowplan::pack
