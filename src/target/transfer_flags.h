// SPDX-License-Identifier: Apache-2.0
// The flags of transfers to and from the host, where a module has lost them.
#pragma once

#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan {

// On TPUs the number that a send or a recv waits for, element 1 of its result, is a sync flag: it
// lies in memory space 2. XLA makes these shapes anew when it reads a proto, without a layout, so
// the module of an executable does not say it. The module with it said; others as they are.
[[nodiscard]] bool NeedsTransferFlags(const hlo::Module& module, const Target& target);
hlo::Module WithTransferFlags(hlo::Module module, const Target& target);

}  // namespace stowplan
