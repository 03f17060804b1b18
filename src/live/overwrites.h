// SPDX-License-Identifier: Apache-2.0
// Programs that cannot run as they are: a value must share its place with one that is written while
// it is still needed. XLA inserts copies before it assigns buffers; programs by hand often lack
// them.
//
// A warning, not a verdict: XLA leaves copies out where it knows more, for instance that two values
// are the same. Of 2 400 modules that it made, seven have such a place.
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
