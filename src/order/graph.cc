// SPDX-License-Identifier: Apache-2.0
#include "order/graph.h"

namespace stowplan::order {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

class GraphMaker {
 public:
  GraphMaker(const Module& module, hlo::CompId computation, std::span<const uint8_t> effects)
      : module_(module), effects_(effects) {
    graph_.computation = computation;
    graph_.nodes.assign(module.instructions.size(), kNoNode);
    graph_.sources = graph_.nodes;
  }

  Graph Make() && {
    for (const InstrId id : module_.schedule_of(graph_.computation)) {
      if (!HasNode(id)) {
        const std::span<const InstrId> operands = module_.operands_of(id);
        if (!operands.empty()) graph_.sources[id.index] = graph_.SourceOf(operands[0]);
        continue;
      }
      graph_.nodes[id.index] = static_cast<Node>(graph_.instructions.size());
      graph_.sources[id.index] = graph_.nodes[id.index];
      graph_.instructions.push_back(id);
    }
    for (Node i = 0; i < graph_.instructions.size(); ++i) AddDependencies(i);
    KeepEffects();
    KeepRootLast();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] bool HasNode(InstrId id) const {
    return !IsTransparent(module_.instructions[id].opcode) ||
           module_.FindAttribute(id, AttributeKey::kControlPredecessors) != nullptr;
  }

  // An edge from a later node would be a cycle with the order that is given, which is possible.
  void AddEdge(Node from, Node to) {
    if (from != kNoNode && from < to) graph_.edges.emplace_back(from, to);
  }

  void AddDependencies(Node node) {
    const InstrId id = graph_.instructions[node];
    for (const InstrId operand : module_.operands_of(id)) AddEdge(graph_.SourceOf(operand), node);
    const hlo::Attribute* control = module_.FindAttribute(id, AttributeKey::kControlPredecessors);
    if (control == nullptr) return;
    for (const InstrId before : Module::Rows(module_.instruction_pool, control->rows()))
      AddEdge(graph_.SourceOf(before), node);
  }

  void KeepEffects() {
    Node last = kNoNode;
    for (Node i = 0; i < graph_.instructions.size(); ++i) {
      const InstrId id = graph_.instructions[i];
      if (effects_[id.index] == 0) continue;
      AddEdge(last, i);
      last = i;
    }
  }

  // XLA ends each computation with its root.
  void KeepRootLast() {
    const Node root = graph_.NodeOf(module_.computations[graph_.computation].root);
    if (root == kNoNode || root + 1 != graph_.instructions.size()) return;
    std::vector<uint8_t> has_reader(graph_.instructions.size(), 0);
    for (const auto& [from, to] : graph_.edges) has_reader[from] = 1;
    for (Node i = 0; i < root; ++i) {
      if (has_reader[i] == 0) AddEdge(i, root);
    }
  }

  const Module& module_;
  const std::span<const uint8_t> effects_;
  Graph graph_;
};

}  // namespace

bool IsTransparent(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kBitcast:
    case Opcode::kGetTupleElement:
      return true;
    default:
      return false;
  }
}

Graph MakeGraph(const Module& module, hlo::CompId computation, std::span<const uint8_t> effects) {
  return GraphMaker(module, computation, effects).Make();
}

std::vector<InstrId> FullOrder(const Module& module, const Graph& graph,
                               std::span<const Node> order) {
  const std::span<const InstrId> given = module.schedule_of(graph.computation);
  const InstrId root = module.computations[graph.computation].root;
  std::vector<uint8_t> is_done(module.instructions.size(), 0);
  std::vector<InstrId> full;
  full.reserve(given.size());
  std::vector<InstrId> chain;
  // What has no node and is not there yet, with what it names.
  const auto emit_named = [&](InstrId id) {
    chain.clear();
    while (is_done[id.index] == 0 && graph.NodeOf(id) == kNoNode) {
      is_done[id.index] = 1;
      chain.push_back(id);
      if (module.operands_of(id).empty()) break;
      id = module.operands_of(id)[0];
    }
    full.insert(full.end(), chain.rbegin(), chain.rend());
  };
  for (const Node node : order) {
    const InstrId id = graph.instructions[node];
    for (const InstrId operand : module.operands_of(id)) emit_named(operand);
    if (const auto* control = module.FindAttribute(id, AttributeKey::kControlPredecessors)) {
      for (const InstrId before : Module::Rows(module.instruction_pool, control->rows()))
        emit_named(before);
    }
    full.push_back(id);
  }
  for (const InstrId id : given) {
    if (id != root) emit_named(id);
  }
  emit_named(root);
  return full;
}

}  // namespace stowplan::order
