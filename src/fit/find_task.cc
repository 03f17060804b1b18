// SPDX-License-Identifier: Apache-2.0
#include "fit/find_task.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "order/effects.h"

namespace stowplan::fit {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Opcode;

// Custom calls that compute a function of their operands.
bool IsPureCall(const hlo::Module& module, InstrId id) {
  const hlo::Attribute* target = module.FindAttribute(id, AttributeKey::kCustomCallTarget);
  if (target == nullptr || module.NumberOr(id, AttributeKey::kCustomCallHasSideEffect, 0) != 0)
    return false;
  constexpr std::string_view kPrefixes[] = {"__cublas$", "__cudnn$conv", "__cudnn$norm",
                                            "__onednn$", "TopK"};
  const std::string_view name = module.view(target->text());
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsPureAlone(const hlo::Module& module, InstrId id) {
  const Opcode opcode = module.instructions[id].opcode;
  if (order::IsStart(opcode) || order::IsDone(opcode)) return false;
  switch (opcode) {
    case Opcode::kAsyncUpdate:
    case Opcode::kDomain:
    case Opcode::kOptBarrier:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kParameter:
      return false;
    case Opcode::kCustomCall:
      return IsPureCall(module, id);
    default:
      return true;
  }
}

// What hands on values without reading them.
bool IsBundle(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
    case Opcode::kOptBarrier:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
      return true;
    default:
      return false;
  }
}

// Loops and branches are called once; a second caller would need computations of its own.
bool IsSimple(const hlo::Module& module, InstrId id) {
  switch (module.instructions[id].opcode) {
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kTuple:
      return false;
    default:
      return module.FindAttribute(id, AttributeKey::kControlPredecessors) == nullptr;
  }
}

// What others wait for without reading it.
void ForbidControl(const hlo::Module& module, const order::Graph& graph,
                   std::vector<uint8_t>& can_repeat) {
  for (const InstrId id : graph.instructions) {
    const auto* control = module.FindAttribute(id, AttributeKey::kControlPredecessors);
    if (control == nullptr) continue;
    for (const InstrId before : hlo::Module::Rows(module.instruction_pool, control->rows())) {
      if (const Node node = graph.SourceOf(before); node != kNoNode) can_repeat[node] = 0;
    }
  }
}
// What is a part of a tuple is read where the tuple is. The module's result is not read at all.
void ForbidTuples(const hlo::Module& module, const order::Graph& graph,
                  std::vector<uint8_t>& can_repeat) {
  const InstrId root = module.computations[graph.computation].root;
  for (const InstrId id : graph.instructions) {
    if (!IsBundle(module.instructions[id].opcode)) continue;
    if (id == root && module.instructions[id].opcode == Opcode::kTuple) continue;
    for (const InstrId operand : module.operands_of(id)) {
      if (const Node node = graph.SourceOf(operand); node != kNoNode) can_repeat[node] = 0;
    }
  }
}

class TaskFinder {
 public:
  TaskFinder(const order::Surroundings& around, const order::Graph& graph)
      : around_(around), graph_(graph) {}

  Task Find(std::span<const double> costs) {
    const std::vector<int64_t> slacks(around_.module.computations.size(), 0);
    order::Problem problem = order::FindProblem(around_, graph_, slacks, &values_);
    std::vector<uint8_t> can_repeat = FindRepeatable(around_, graph_, problem);
    std::vector<double> node_costs(problem.size(), 0);
    for (Node i = 0; i < problem.size(); ++i) node_costs[i] = costs[graph_.instructions[i].index];
    ForbidSharing(problem, can_repeat);
    std::vector<Node> overwriters = FindOverwriters(problem);
    std::vector<uint32_t> buffers;
    buffers.reserve(values_.size());
    for (const ValueId value : values_) buffers.push_back(around_.analysis.buffers.of(value).index);
    return MakeTask(std::move(problem), std::move(node_costs), std::move(can_repeat),
                    std::move(overwriters), std::move(buffers), true);
  }

 private:
  [[nodiscard]] BufferId BufferOf(uint32_t life) const {
    return around_.analysis.buffers.of(values_[life]);
  }
  // Whether the lives, which are all of one buffer, begin with a node of this computation, and each
  // further one is written by a node that reads the one before: then all of them can be repeated
  // together, in memory of their own.
  [[nodiscard]] bool IsChain(const order::Problem& problem, uint32_t first, uint32_t end) const {
    if (around_.analysis.buffers.values_of(BufferOf(first)).size() != end - first) return false;
    for (uint32_t i = first; i < end; ++i) {
      const Node begin = problem.lives[i].begin;
      const InstrId id = around_.analysis.flow.instruction(values_[i]);
      if (begin == kNoNode || graph_.NodeOf(id) != begin) return false;
      if (i > first && !std::ranges::binary_search(problem.touches[i - 1], begin)) return false;
    }
    return true;
  }
  // A repetition has memory of its own; what is written over arguments and in loops has not.
  void ForbidSharing(const order::Problem& problem, std::vector<uint8_t>& can_repeat) const {
    uint32_t end = 0;
    for (uint32_t first = 0; first < problem.lives.size(); first = end) {
      for (end = first + 1; end < problem.lives.size() && BufferOf(end) == BufferOf(first);) ++end;
      if (IsChain(problem, first, end)) continue;
      for (uint32_t i = first; i < end; ++i) {
        const bool is_shared = around_.analysis.buffers.values_of(BufferOf(first)).size() > 1;
        if (const Node node = problem.lives[i].begin; node != kNoNode && is_shared)
          can_repeat[node] = 0;
      }
    }
  }
  // By life: who begins the next life of its buffer. Lives of a buffer follow each other.
  [[nodiscard]] std::vector<Node> FindOverwriters(const order::Problem& problem) const {
    std::vector<Node> overwriters(problem.lives.size(), kNoNode);
    for (uint32_t i = 0; i + 1 < problem.lives.size(); ++i) {
      if (BufferOf(i) == BufferOf(i + 1)) overwriters[i] = problem.lives[i + 1].begin;
    }
    return overwriters;
  }

  const order::Surroundings& around_;
  const order::Graph& graph_;
  std::vector<ValueId> values_;  // by life
};

}  // namespace

std::vector<uint8_t> FindPure(const hlo::Module& module) {
  std::vector<uint8_t> is_pure(module.instructions.size(), 0);
  std::vector<uint8_t> has_other(module.computations.size(), 0);
  const std::vector<uint8_t> effects = order::FindEffects(module);
  // Callees precede their callers.
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const hlo::Computation& computation = module.computations[hlo::CompId(c)];
    for (uint32_t k = 0; k < computation.count; ++k) {
      const InstrId id(size_t{computation.first.index} + k);
      const bool is_parameter = module.instructions[id].opcode == Opcode::kParameter;
      const bool calls_other = std::ranges::any_of(
          module.called_by(id), [&](hlo::CompId callee) { return has_other[callee.index] != 0; });
      is_pure[id.index] =
          static_cast<uint8_t>(effects[id.index] == 0 && !calls_other && IsPureAlone(module, id));
      if (is_pure[id.index] == 0 && !is_parameter) has_other[c] = 1;
    }
  }
  return is_pure;
}

std::vector<uint8_t> FindRepeatable(const order::Surroundings& around, const order::Graph& graph,
                                    const order::Problem& problem) {
  const std::vector<uint8_t> pure = FindPure(around.module);
  std::vector<uint8_t> can_repeat(problem.size(), 0);
  for (Node i = 0; i < problem.size(); ++i) {
    const InstrId id = graph.instructions[i];
    can_repeat[i] = static_cast<uint8_t>(pure[id.index] != 0 && around.effects[id.index] == 0 &&
                                         IsSimple(around.module, id) && problem.inner[i] == 0);
  }
  ForbidControl(around.module, graph, can_repeat);
  ForbidTuples(around.module, graph, can_repeat);
  return can_repeat;
}

Task FindTask(const order::Surroundings& around, const order::Graph& graph,
              std::span<const double> costs) {
  return TaskFinder(around, graph).Find(costs);
}

}  // namespace stowplan::fit
