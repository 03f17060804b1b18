// SPDX-License-Identifier: Apache-2.0
// The short form of async operations: `slice-start(...)` for an async-start that calls a
// computation which does nothing but one slice.
#pragma once

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// The async-start at the head of a chain of -update and -done; none when the chain is broken.
InstrId AsyncStartOf(const Module& module, InstrId id);

// The one instruction that an async-start, -update or -done wraps, when XLA writes the chain in its
// short form; none otherwise.
InstrId WrappedInstruction(const Module& module, InstrId id);

}  // namespace stowplan::hlo
