// SPDX-License-Identifier: Apache-2.0
// The memory that programs of a TPU's SparseCore work in.
//
// An async-start that hands work to the SparseCore returns (operands, result, contexts), and the
// contexts are a tuple: a stack in main memory, and arrays in memories of that core. Its programs
// run one after the other, so they all share the same arrays, and a stack where none is free, even
// where their live ranges overlap.
#pragma once

#include <cstdint>

#include "stowplan/hlo/module.h"
#include "values/value_flow.h"

namespace stowplan {

// Memory spaces of the SparseCore.
bool IsSparseCoreSpace(int64_t color);

// Whether the value is a part of the contexts of an async-start or async-update.
bool IsContext(const hlo::Module& module, const ValueFlow& flow, ValueId id);

}  // namespace stowplan
