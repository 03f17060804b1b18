// SPDX-License-Identifier: Apache-2.0
// The order of the worklist decides in which order phis are born, and so their numbers.
#include "values/flow_builder.h"

namespace stowplan {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

namespace {

// The k-th computation that is numbered before this instruction; none after the last.
CompId NumberedBefore(const hlo::Module& module, InstrId id, size_t k) {
  const std::span<const CompId> called = module.called_by(id);
  if (k >= called.size()) return {};
  switch (module.instructions[id].opcode) {
    case Opcode::kCall:
    case Opcode::kAsyncStart:
    case Opcode::kConditional:
      return called[k];
    case Opcode::kWhile:  // called: body, condition
      return called[called.size() - 1 - k];
    default:
      return {};
  }
}

}  // namespace

// Embedded computations come first; nothing that is numbered by their order can happen in them.
void FlowBuilder::NumberInstructions() {
  constexpr uint32_t kNone = 0xffffffffU;
  const size_t count = module_.instructions.size();
  struct Frame {
    CompId computation;
    size_t next = 0;
    size_t next_callee = 0;
  };
  std::vector<InstrId> reached;
  std::vector<uint8_t> is_entered(module_.computations.size(), 0);
  std::vector<Frame> stack = {{module_.entry}};
  is_entered[module_.entry.index] = 1;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const auto order = Orders::Of(orders_.post_order, module_.computations[frame.computation]);
    if (frame.next == order.size()) {
      stack.pop_back();
      continue;
    }
    const InstrId id = order[frame.next];
    const CompId callee = NumberedBefore(module_, id, frame.next_callee);
    if (!callee.is_none()) {
      ++frame.next_callee;
      if (is_entered[callee.index] == 0) {
        is_entered[callee.index] = 1;
        stack.push_back({callee});
      }
      continue;
    }
    reached.push_back(id);
    ++frame.next;
    frame.next_callee = 0;
  }
  ordinals_.assign(count, kNone);
  by_ordinal_.reserve(count);
  const size_t first = count - reached.size();
  for (size_t k = 0; k < reached.size(); ++k)
    ordinals_[reached[k].index] = static_cast<uint32_t>(first + k);
  for (const CompId computation : orders_.numbered) {
    for (const InstrId id : Orders::Of(orders_.post_order, module_.computations[computation])) {
      if (ordinals_[id.index] != kNone) continue;
      ordinals_[id.index] = static_cast<uint32_t>(by_ordinal_.size());
      by_ordinal_.push_back(id);
    }
  }
  by_ordinal_.insert(by_ordinal_.end(), reached.begin(), reached.end());
}

void FlowBuilder::Propagate() {
  while (const std::optional<size_t> ordinal = worklist_.Take()) {
    const InstrId id = by_ordinal_[*ordinal];
    if (!Transfer(id)) continue;
    FeedJoins(id);
    QueueUsers(id);
    if (module_.computations[module_.instructions[id].parent].root == id) QueueCallers(id);
  }
}

void FlowBuilder::QueueUsers(InstrId id) {
  for (const auto& [user, operand] : orders_.reads_of(id)) {
    Queue(user);
    const std::span<const CompId> called = module_.called_by(user);
    switch (module_.instructions[user].opcode) {
      case Opcode::kConditional:
        // Behind the operand that chooses stands one for each branch.
        if (operand != 0 && operand <= called.size()) {
          const auto parameters = module_.parameters_of(called[operand - 1]);
          if (!parameters.empty()) Queue(parameters[0]);
        }
        break;
      case Opcode::kAsyncUpdate:
      case Opcode::kAsyncDone:
        if (const CompId callee = AsyncComputation(user); !callee.is_none()) {
          for (const InstrId parameter : module_.parameters_of(callee)) Queue(parameter);
        }
        break;
      default:
        for (const CompId callee : called) {
          if (calls_.context(callee) != CallContext::kControlFlow) continue;
          const std::span<const InstrId> parameters = module_.parameters_of(callee);
          if (operand < parameters.size()) Queue(parameters[operand]);
        }
    }
  }
}

void FlowBuilder::QueueCallers(InstrId root) {
  const CompId computation = module_.instructions[root].parent;
  for (const InstrId caller : calls_.callers_of(computation)) {
    const Opcode opcode = module_.instructions[caller].opcode;
    if (opcode == Opcode::kWhile) {
      Queue(caller);
      for (const CompId callee : module_.called_by(caller)) {
        const std::span<const InstrId> parameters = module_.parameters_of(callee);
        if (!parameters.empty()) Queue(parameters[0]);
      }
    } else if (calls_.context(computation) == CallContext::kControlFlow ||
               opcode == Opcode::kConditional) {
      Queue(caller);
    }
  }
}

}  // namespace stowplan
