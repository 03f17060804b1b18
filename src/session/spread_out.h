// SPDX-License-Identifier: Apache-2.0
// A plan in which values share memory only where the program forces them to. If even that is
// unsound, the program lacks a copy, and no plan for it is sound.
#pragma once

#include "assign/assignment.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

Assignment SpreadOut(const hlo::Module& module, const Analysis& analysis, const Assignment& plan);

}  // namespace stowplan
