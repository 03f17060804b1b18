// SPDX-License-Identifier: Apache-2.0
// A module in which a pair of loops stacks less, and the backward loop computes the rest again.
#pragma once

#include <optional>

#include "fit/loop_pairs.h"
#include "fit/loop_values.h"
#include "hlo/separate_fusions.h"
#include "stowplan/hlo/module.h"

namespace stowplan::fit {

struct SavedFewer {
  hlo::Module module;
  hlo::Origins origins;                   // rows of the given module
  std::vector<hlo::InstrId> repetitions;  // rows of the given module that run again, once each
};
// Stacks that are not kept are gone from both loops. Where the backward loop has read a slice, it
// has the same instructions as the forward loop, in the same fusions, on the same operands:
// slices that are kept, elements that no loop changes, and the counter of the forward loop. A
// fusion that has computed a slice and written it into the stack becomes one that yields the slice.
// Nothing if that is not possible.
std::optional<SavedFewer> SaveFewer(const hlo::Module& module, const LoopPair& pair,
                                    const LoopValues& values, const SavedStacks& saved);

}  // namespace stowplan::fit
