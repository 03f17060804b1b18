// SPDX-License-Identifier: Apache-2.0
#include "order/graph.h"

#include <algorithm>

#include "order/effects.h"

namespace stowplan::order {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

class GraphMaker {
 public:
  GraphMaker(const Module& module, hlo::CompId computation, Overlap overlap,
             std::span<const uint8_t> effects)
      : module_(module), overlap_(overlap), effects_(effects) {
    graph_.computation = computation;
    graph_.nodes.assign(module.instructions.size(), kNoNode);
  }

  Graph Make() && {
    for (const InstrId id : module_.schedule_of(graph_.computation)) {
      if (IsTransparent(module_.instructions[id].opcode)) continue;
      graph_.nodes[id.index] = static_cast<Node>(graph_.instructions.size());
      graph_.instructions.push_back(id);
    }
    for (Node i = 0; i < graph_.instructions.size(); ++i) AddDependencies(i);
    KeepEffects();
    KeepRootLast();
    if (overlap_ == Overlap::kKeep) KeepOverlap();
    return std::move(graph_);
  }

 private:
  // What has no node stands for what it names.
  [[nodiscard]] Node SourceOf(InstrId id) const {
    while (graph_.NodeOf(id) == kNoNode) {
      const std::span<const InstrId> operands = module_.operands_of(id);
      if (operands.empty()) return kNoNode;
      id = operands[0];
    }
    return graph_.NodeOf(id);
  }
  // An edge from a later node would be a cycle with the order that is given, which is possible.
  void AddEdge(Node from, Node to) {
    if (from != kNoNode && from < to) graph_.edges.emplace_back(from, to);
  }

  void AddDependencies(Node node) {
    const InstrId id = graph_.instructions[node];
    for (const InstrId operand : module_.operands_of(id)) AddEdge(SourceOf(operand), node);
    AddControl(id, node);
    // Control edges may also lead to what has no node, on the way to an operand.
    for (InstrId operand : module_.operands_of(id)) {
      while (graph_.NodeOf(operand) == kNoNode && !module_.operands_of(operand).empty()) {
        AddControl(operand, node);
        operand = module_.operands_of(operand)[0];
      }
    }
  }
  void AddControl(InstrId id, Node node) {
    const hlo::Attribute* control = module_.FindAttribute(id, AttributeKey::kControlPredecessors);
    if (control == nullptr) return;
    for (const InstrId before : Module::Rows(module_.instruction_pool, control->rows()))
      AddEdge(SourceOf(before), node);
  }

  void KeepEffects() {
    Node last = kNoNode;
    for (Node i = 0; i < graph_.instructions.size(); ++i) {
      const InstrId id = graph_.instructions[i];
      if (effects_[id.index] == 0) continue;
      // Who waits may wait elsewhere if overlap does not matter.
      if (overlap_ == Overlap::kIgnore && IsDone(module_.instructions[id].opcode)) continue;
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

  void KeepOverlap() {
    // Edges between all that lies between a start and its done grow with the product of the two;
    // beyond this many the order between them stays as it is.
    const size_t most = 16 * graph_.instructions.size() + 4096;
    size_t steps = 0;
    Node frozen = 0;  // the order is kept up to this node
    std::vector<std::pair<Node, Node>> spans;
    for (Node i = 0; i < graph_.instructions.size(); ++i) {
      const InstrId id = graph_.instructions[i];
      if (!IsDone(module_.instructions[id].opcode) || module_.operands_of(id).empty()) continue;
      Node start = SourceOf(module_.operands_of(id)[0]);
      while (start != kNoNode &&
             module_.instructions[graph_.instructions[start]].opcode == Opcode::kAsyncUpdate)
        start = SourceOf(module_.operands_of(graph_.instructions[start])[0]);
      if (start != kNoNode && start < i) spans.emplace_back(start, i);
    }
    for (const auto& [start, done] : spans) {
      steps += done - start;
      if (steps <= most) {
        for (Node i = start + 1; i < done; ++i) {
          AddEdge(start, i);
          AddEdge(i, done);
        }
        continue;
      }
      for (Node i = std::max(start, frozen); i < done; ++i) AddEdge(i, i + 1);
      frozen = std::max(frozen, done);
    }
  }

  const Module& module_;
  const Overlap overlap_;
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

Graph MakeGraph(const Module& module, hlo::CompId computation, Overlap overlap,
                std::span<const uint8_t> effects) {
  return GraphMaker(module, computation, overlap, effects).Make();
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
