// SPDX-License-Identifier: Apache-2.0
// A plan that shares nothing but what the program makes share: where even that is unsound, the
// program lacks a copy, and no plan of it is sound.
#pragma once

#include "assign/assignment.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

Assignment SpreadOut(const hlo::Module& module, const Analysis& analysis, const Assignment& plan);

}  // namespace stowplan
