// SPDX-License-Identifier: Apache-2.0
#include "explain/kinds.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/stable_sort.h"

namespace stowplan::explain {

using hlo::InstrId;
using hlo::Opcode;

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kThreadLocal:
      return "thread-local";
    case Kind::kConstant:
      return "constant";
    case Kind::kDonated:
      return "donated parameter";
    case Kind::kParameter:
      return "parameter";
    case Kind::kOutput:
      return "output";
    case Kind::kActivation:
      return "activation kept for later";
    case Kind::kLoopState:
      return "loop state";
    case Kind::kCollective:
      return "collective buffer";
    case Kind::kTemporary:
      break;
  }
  return "temporary";
}

std::string_view Word(Kind kind) {
  switch (kind) {
    case Kind::kDonated:
      return "donated";
    case Kind::kActivation:
      return "activation";
    case Kind::kLoopState:
      return "loop-state";
    case Kind::kCollective:
      return "collective";
    default:
      return Name(kind);
  }
}

namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// JAX names what differentiation makes: jvp(...) the forward pass, transpose(jvp(...)) the
// backward.
bool IsForward(std::string_view op_name) {
  return Contains(op_name, "jvp(") && !Contains(op_name, "transpose(");
}
bool IsBackward(std::string_view op_name) { return Contains(op_name, "transpose("); }

bool IsCollective(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kCollectiveReduce:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kSend:
    case Opcode::kSendDone:
      return true;
    default:
      return false;
  }
}

class KindFinder {
 public:
  explicit KindFinder(Picture& picture) : picture_(picture), report_(*picture.report) {
    FindReadByBackward();
    has_loop_ = std::ranges::any_of(picture.ops.rows(),
                                    [](const Op& op) { return op.opcode == Opcode::kWhile; });
    if (picture.module == nullptr) return;
    const hlo::Module& module = *picture.module;
    // What a loop's body returns is the next state.
    is_next_state_.resize(module.instructions.size(), 0);
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      if (module.instructions[InstrId(i)].opcode != Opcode::kWhile) continue;
      if (module.called_by(InstrId(i)).empty()) continue;
      const InstrId root = module.computations[module.called_by(InstrId(i))[0]].root;
      if (!root.is_none()) is_next_state_[root.index] = 1;
    }
  }

  [[nodiscard]] Kind Of(report::ValueId id) const {
    const report::Value& value = report_.values[id];
    if (value.allocation.is_none()) return Own(id);
    const report::Allocation& allocation = report_.allocations[value.allocation];
    if (allocation.is_thread_local) return Kind::kThreadLocal;
    if (allocation.parameter)
      return allocation.is_maybe_live_out ? Kind::kDonated : Kind::kParameter;
    if (allocation.is_constant) return Kind::kConstant;
    if (allocation.is_maybe_live_out && LivesToTheEnd(value)) return Kind::kOutput;
    return Own(id);
  }

 private:
  [[nodiscard]] bool LivesToTheEnd(const report::Value& value) const {
    if (!value.has_range || !report_.live_ranges) return true;
    return value.end >= report_.live_ranges->end;
  }

  // By what the program does, wherever it lies.
  [[nodiscard]] Kind Own(report::ValueId id) const {
    if (IsKeptForBackward(id)) return Kind::kActivation;
    if (IsLoopState(id)) return Kind::kLoopState;
    if (IsMadeByCollective(picture_.ops[picture_.values[id.index].op])) return Kind::kCollective;
    return Kind::kTemporary;
  }

  [[nodiscard]] bool IsKeptForBackward(report::ValueId id) const {
    // A backward loop's slice of what was kept is not kept.
    const ValueFact& fact = picture_.values[id.index];
    return is_read_by_backward_[id.index] != 0 && IsForward(fact.op_name) &&
           !IsBackward(picture_.ops[fact.op].op_name);
  }

  // Compilers move values between memories: who reads a copy, or a slice that the compiler made,
  // reads what was copied. So values are looked at from the last op to the first.
  void FindReadByBackward() {
    const size_t count = report_.values.size();
    is_read_by_backward_.assign(count, 0);
    std::vector<uint8_t> is_backward(picture_.ops.size(), 0);
    bool has_backward = false;
    for (size_t i = 0; i < picture_.ops.size(); ++i) {
      is_backward[i] = IsBackward(picture_.ops[OpId(i)].op_name) ? 1 : 0;
      has_backward = has_backward || is_backward[i] != 0;
    }
    if (!has_backward) return;
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    StableSort(order, std::greater(),
               [&](uint32_t i) { return picture_.ops[picture_.values[i].op].time; });
    std::vector<uint8_t> is_read(picture_.ops.size(), 0);  // by op: one of its values is
    for (const uint32_t i : order) {
      // Others would neither be kept nor be moved.
      if (!IsForward(picture_.values[i].op_name) &&
          !picture_.ops[picture_.values[i].op].is_wordless)
        continue;
      const bool is_kept = std::ranges::any_of(
          report_.uses_of(report_.values[report::ValueId(i)]), [&](const report::Use& use) {
            const OpId user = picture_.FindOp(use.instruction);
            if (user.is_none()) return false;
            return is_backward[user.index] != 0 ||
                   (picture_.ops[user].is_wordless && is_read[user.index] != 0);
          });
      if (!is_kept) continue;
      is_read_by_backward_[i] = 1;
      is_read[picture_.values[i].op.index] = 1;
    }
  }

  [[nodiscard]] bool IsLoopState(report::ValueId id) const {
    const report::Value& value = report_.values[id];
    const Opcode born = picture_.ops[picture_.values[id.index].op].opcode;
    if (born == Opcode::kWhile) return true;
    if (value.is_phi && born != Opcode::kConditional) return true;
    if (!has_loop_) return false;
    return std::ranges::any_of(report_.positions_of(value), [&](const report::Position& position) {
      const OpId op = picture_.FindOp(position.instruction);
      if (op.is_none()) return false;
      const InstrId instruction = picture_.ops[op].instruction;
      return picture_.ops[op].opcode == Opcode::kWhile ||
             (!instruction.is_none() && is_next_state_[instruction.index] != 0);
    });
  }

  // Also inside an async operation.
  [[nodiscard]] bool IsMadeByCollective(const Op& op) const {
    if (IsCollective(op.opcode)) return true;
    const bool is_async = op.opcode == Opcode::kAsyncStart || op.opcode == Opcode::kAsyncUpdate ||
                          op.opcode == Opcode::kAsyncDone;
    if (!is_async || op.instruction.is_none()) return false;
    const hlo::Module& module = *picture_.module;
    if (module.called_by(op.instruction).empty()) return false;
    const InstrId root = module.computations[module.called_by(op.instruction)[0]].root;
    return !root.is_none() && IsCollective(module.instructions[root].opcode);
  }

  const Picture& picture_;
  const report::Report& report_;
  bool has_loop_ = false;
  std::vector<uint8_t> is_next_state_;        // by instruction
  std::vector<uint8_t> is_read_by_backward_;  // by value
};

}  // namespace

void AddKinds(Picture& picture) {
  const KindFinder finder(picture);
  for (size_t i = 0; i < picture.values.size(); ++i) {
    picture.values[i].kind = finder.Of(report::ValueId(i));
  }
}

}  // namespace stowplan::explain
