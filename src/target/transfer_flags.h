// SPDX-License-Identifier: Apache-2.0
// Restores the flags of transfers to and from the host if a module has lost them.
#pragma once

#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan {

// On TPUs the number that a send or a recv waits for, element 1 of its result, is a sync flag: it
// lies in memory space 2. XLA rebuilds these shapes without a layout when it reads a proto, so the
// module of an executable does not show it. Returns the module with these layouts; other modules
// are returned unchanged.
hlo::Module WithTransferFlags(hlo::Module module, const Target& target);
// Whether that changes the module.
[[nodiscard]] bool NeedsTransferFlags(const hlo::Module& module, const Target& target);

}  // namespace stowplan
