// SPDX-License-Identifier: Apache-2.0
// Programs that cannot run as they are: a value must share its place with one that is written while
// the first is still needed. XLA inserts copies before it assigns buffers; handwritten programs
// often lack them.
//
// This is a warning, not a verdict: XLA omits copies where it knows more, for instance that two
// values are the same. Seven of 2 400 modules that XLA made have such a place.
#pragma once

#include "buffers/buffer_set.h"
#include "schedule/call_graph.h"
#include "schedule/schedule.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "values/value_flow.h"

namespace stowplan {

// The first kMaxErrors of them, as warnings.
Diagnostics FindOverwrites(const hlo::Module& module, const CallGraph& calls,
                           const Schedule& schedule, const ValueFlow& flow,
                           const BufferSet& buffers);

}  // namespace stowplan
