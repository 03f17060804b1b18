// SPDX-License-Identifier: Apache-2.0
#include "order/effects.h"

#include <algorithm>

namespace stowplan::order {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Opcode;

bool HasEffect(const hlo::Module& module, InstrId id) {
  switch (module.instructions[id].opcode) {
    case Opcode::kUnknown:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllToAll:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
      return true;
    case Opcode::kCustomCall:
      return module.NumberOr(id, AttributeKey::kCustomCallHasSideEffect, 0) != 0;
    default:
      return false;
  }
}

}  // namespace

std::vector<uint8_t> FindEffects(const hlo::Module& module) {
  std::vector<uint8_t> has_effect(module.instructions.size(), 0);
  std::vector<uint8_t> is_noticed(module.computations.size(), 0);
  // Callees precede their callers.
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const hlo::Computation& computation = module.computations[hlo::CompId(c)];
    for (uint32_t k = 0; k < computation.count; ++k) {
      const InstrId id(size_t{computation.first.index} + k);
      const bool calls = std::ranges::any_of(
          module.called_by(id), [&](hlo::CompId callee) { return is_noticed[callee.index] != 0; });
      if (!calls && !HasEffect(module, id)) continue;
      has_effect[id.index] = 1;
      is_noticed[c] = 1;
    }
  }
  return has_effect;
}

bool IsDone(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduceDone:
    case Opcode::kAsyncDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kCopyDone:
    case Opcode::kRecvDone:
    case Opcode::kSendDone:
      return true;
    default:
      return false;
  }
}

bool IsStart(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceStart:
    case Opcode::kAsyncStart:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCopyStart:
    case Opcode::kRecv:
    case Opcode::kSend:
      return true;
    default:
      return false;
  }
}

}  // namespace stowplan::order
