// SPDX-License-Identifier: Apache-2.0
// Fusions with several results, some of which are no longer read.
#pragma once

#include "hlo/draft.h"
#include "stowplan/hlo/module.h"

namespace stowplan::fit {

// Each fusion of the computation that yields a tuple yields only what is read of it, in this order;
// if that is one array, it yields that. Left alone are fusions of whose tuple nothing is read, or
// that mean more than their computations say. Returns whether something has changed: rows may be
// unneeded then.
bool ShrinkFusions(const hlo::Module& module, hlo::CompId computation, hlo::Draft& draft);

}  // namespace stowplan::fit
