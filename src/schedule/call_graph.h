// SPDX-License-Identifier: Apache-2.0
// Who calls which computation, and how.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/orders.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// How a computation is entered. Control flow runs it in turn with the caller's instructions, on the
// same memory; embedded ones run inside a single instruction (reducers, comparators, fusions).
enum class CallContext : uint8_t { kControlFlow, kEmbedded };

// What this opcode does with the computations it calls.
CallContext ContextOfCallsBy(hlo::Opcode opcode);

struct CallGraph {
  std::vector<CallContext> contexts;  // by computation
  // By computation: the instructions that call it, one entry for each call, as XLA lists them.
  std::vector<Range> caller_ranges;
  std::vector<hlo::InstrId> callers;
  std::vector<uint8_t> is_fused;  // by computation: the body of a fusion

  [[nodiscard]] std::span<const hlo::InstrId> callers_of(hlo::CompId id) const {
    return hlo::Module::Rows(callers, caller_ranges[id.index]);
  }
  [[nodiscard]] CallContext context(hlo::CompId id) const { return contexts[id.index]; }
};

// Fails if a computation is called both ways: XLA copies it before it plans memory. Requires
// callees to precede their callers.
Result<CallGraph> FindCallGraph(const hlo::Module& module, const Orders& orders);

}  // namespace stowplan
