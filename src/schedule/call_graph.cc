// SPDX-License-Identifier: Apache-2.0
#include "schedule/call_graph.h"

#include <ranges>
#include <utility>

#include <fmt/format.h>

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

void FindCallers(const Module& module, const Orders& orders, CallGraph& graph) {
  const size_t count = module.computations.size();
  graph.caller_ranges.assign(count, {});
  for (const CompId callee : module.called) ++graph.caller_ranges[callee.index].count;
  uint32_t begin = 0;
  for (Range& range : graph.caller_ranges) {
    range.begin = begin;
    begin += std::exchange(range.count, 0);
  }
  graph.callers.resize(begin);
  graph.is_fused.assign(count, 0);
  for (const CompId caller : orders.computations) {
    for (const InstrId id : Orders::Of(orders.listed, module.computations[caller])) {
      for (const CompId callee : module.called_by(id)) {
        Range& range = graph.caller_ranges[callee.index];
        graph.callers[range.begin + range.count++] = id;
        if (module.instructions[id].opcode == Opcode::kFusion) graph.is_fused[callee.index] = 1;
      }
    }
  }
}

}  // namespace

CallContext ContextOfCallsBy(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kWhile:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return CallContext::kControlFlow;
    default:
      return CallContext::kEmbedded;
  }
}

Result<CallGraph> FindCallGraph(const Module& module, const Orders& orders) {
  CallGraph graph;
  FindCallers(module, orders, graph);
  graph.contexts.assign(module.computations.size(), CallContext::kControlFlow);
  // Callers before callees.
  for (const size_t c :
       std::views::iota(size_t{0}, module.computations.size()) | std::views::reverse) {
    const std::span<const InstrId> callers = graph.callers_of(CompId(c));
    for (size_t k = 0; k < callers.size(); ++k) {
      const hlo::Instruction& caller = module.instructions[callers[k]];
      const CallContext context = ContextOfCallsBy(caller.opcode) == CallContext::kEmbedded
                                      ? CallContext::kEmbedded
                                      : graph.contexts[caller.parent.index];
      if (k != 0 && context != graph.contexts[c]) {
        return Fail(module.source ? module.source->name() : std::string(),
                    fmt::format("computation {} is called both as control flow and inside an "
                                "instruction ({})",
                                module.name(CompId(c)), module.name(callers[k])),
                    "give each way of calling a computation of its own, as XLA does before it "
                    "assigns buffers");
      }
      graph.contexts[c] = context;
    }
  }
  return graph;
}

}  // namespace stowplan
