// SPDX-License-Identifier: Apache-2.0
#include "fit/apply.h"

#include <algorithm>
#include <utility>

#include "hlo/rewriter.h"

namespace stowplan::fit {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;

class Applier {
 public:
  Applier(const Module& module, const order::Graph& graph, std::span<const Node> sequence)
      : module_(module),
        graph_(graph),
        sequence_(sequence),
        rewriter_(module),
        current_(module.instructions.size()),
        is_emitted_(module.instructions.size(), 0) {
    for (size_t i = 0; i < current_.size(); ++i) current_[i] = {InstrId(i), 0};
  }

  Applied Run() && {
    const InstrId root = module_.computations[graph_.computation].root;
    std::vector<uint8_t> is_done(graph_.instructions.size(), 0);
    for (const Node node : sequence_) {
      const InstrId id = graph_.instructions[node];
      if (is_done[node] == 0) {
        EmitOriginal(id, id == root && module_.instructions[id].opcode == hlo::Opcode::kTuple);
      } else {
        EmitRepetition(id);
      }
      is_done[node] = 1;
    }
    EmitNames(root);
    // Names that nobody reads any more would keep what they name in memory.
    for (const InstrId id : module_.schedule_of(graph_.computation)) {
      if (HasNode(id) || is_emitted_[id.index] != 0) continue;
      if (module_.operands_of(id).empty()) {
        order_.insert(order_.begin(), id);
      } else {
        rewriter_.Remove(id);
      }
    }
    rewriter_.SetSchedule(graph_.computation, std::move(order_));
    std::vector<InstrId> rows;
    const Module shared = rewriter_.Build(nullptr, &rows);
    Applied applied;
    applied.module = hlo::SeparateFusions(shared, applied.origins);
    for (InstrId& id : applied.origins.instructions) id = rows[id.index];
    return applied;
  }

 private:
  // An instruction that stands for one of the module, and how often its node had been repeated when
  // it was made.
  struct Current {
    InstrId id;
    uint32_t age = 0;
  };

  [[nodiscard]] bool HasNode(InstrId id) const { return graph_.NodeOf(id) != kNoNode; }

  // What only names another instruction's result, with what it names, as far as it is not there.
  void EmitNames(InstrId id) {
    chain_.clear();
    while (!HasNode(id) && is_emitted_[id.index] == 0) {
      is_emitted_[id.index] = 1;
      chain_.push_back(id);
      if (module_.operands_of(id).empty()) break;
      id = module_.operands_of(id)[0];
    }
    order_.insert(order_.end(), chain_.rbegin(), chain_.rend());
  }

  // The latest that stands for `id`.
  InstrId Latest(InstrId id) {
    chain_.clear();
    InstrId source = id;
    while (!HasNode(source) && !module_.operands_of(source).empty()) {
      chain_.push_back(source);
      source = module_.operands_of(source)[0];
    }
    const Current made = current_[source.index];
    if (made.age == 0) {
      EmitNames(id);
      return id;
    }
    // Names of a repetition's parts, from the source on.
    InstrId from = made.id;
    for (size_t k = chain_.size(); k-- > 0;) {
      Current& name = current_[chain_[k].index];
      if (name.age != made.age) {
        name = {rewriter_.AddClone(chain_[k], {&from, 1}, chain_[k]), made.age};
        order_.push_back(name.id);
      }
      from = name.id;
    }
    return from;
  }

  void EmitOriginal(InstrId id, bool is_root) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    for (size_t k = 0; k < operands.size(); ++k) {
      // The first of what is returned lasts.
      if (is_root) {
        EmitNames(operands[k]);
        continue;
      }
      const InstrId latest = Latest(operands[k]);
      if (latest != operands[k]) rewriter_.ReplaceOperand(id, k, latest);
    }
    if (const auto* control = module_.FindAttribute(id, AttributeKey::kControlPredecessors)) {
      for (const InstrId before : Module::Rows(module_.instruction_pool, control->rows()))
        EmitNames(before);
    }
    is_emitted_[id.index] = 1;
    order_.push_back(id);
  }

  void EmitRepetition(InstrId id) {
    std::vector<InstrId> operands;
    for (const InstrId operand : module_.operands_of(id)) operands.push_back(Latest(operand));
    Current& current = current_[id.index];
    current = {rewriter_.AddClone(id, operands, id), current.age + 1};
    order_.push_back(current.id);
  }

  const Module& module_;
  const order::Graph& graph_;
  const std::span<const Node> sequence_;
  hlo::Rewriter rewriter_;
  std::vector<Current> current_;  // by instruction
  std::vector<uint8_t> is_emitted_;
  std::vector<InstrId> order_;
  std::vector<InstrId> chain_;
};

}  // namespace

Applied Apply(const Module& module, const order::Graph& graph, std::span<const Node> sequence) {
  return Applier(module, graph, sequence).Run();
}

}  // namespace stowplan::fit
