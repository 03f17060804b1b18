// SPDX-License-Identifier: Apache-2.0
#include "values/phi_graph.h"

#include <algorithm>

namespace stowplan {

uint32_t PhiGraph::AddNode(ValueId id) {
  if (id.index >= node_of_.size())
    node_of_.resize(std::max<size_t>(id.index + 1, node_of_.size() * 2), kNone);
  uint32_t& node = node_of_[id.index];
  if (node == kNone) {
    node = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({.value = id});
    inputs_.emplace_back();
  }
  return node;
}

void PhiGraph::Register(ValueId phi, std::span<const ValueId> inputs) {
  const uint32_t node = AddNode(phi);
  nodes_[node].is_phi = true;
  nodes_[node].operands.clear();
  for (const ValueId input : inputs) {
    const uint32_t operand = AddNode(input);
    nodes_[node].operands.push_back(operand);
  }
  inputs_[node].assign(inputs.begin(), inputs.end());
}

uint32_t PhiGraph::Resolve(uint32_t node) const {
  while (nodes_[node].replaced_by != kNone) node = nodes_[node].replaced_by;
  return node;
}

void PhiGraph::Replace(uint32_t node, uint32_t by) {
  if (nodes_[node].replaced_by != kNone) return;
  by = Resolve(by);
  if (by == node) return;
  for (const uint32_t user : nodes_[node].users)
    std::ranges::replace(nodes_[user].operands, node, by);
  for (const uint32_t operand : nodes_[node].operands)
    std::ranges::replace(nodes_[operand].users, node, by);
  nodes_[node].replaced_by = by;
}

// When everything that `start` joins, directly or through other phis, is one value: it stands for
// all these phis.
bool PhiGraph::ReplaceClosure(uint32_t start, std::vector<uint8_t>& is_checked) {
  std::vector<uint32_t> phis = {start};
  uint32_t only = kNone;
  std::vector<uint32_t> seen = {start};
  is_checked[start] = 2;
  for (size_t next = 0; next < phis.size(); ++next) {
    for (const uint32_t operand : nodes_[phis[next]].operands) {
      if (!nodes_[operand].is_phi) {
        if (only != kNone && only != operand) {
          for (const uint32_t node : seen) is_checked[node] = 1;
          return false;
        }
        only = operand;
        continue;
      }
      if (is_checked[operand] == 2) continue;
      is_checked[operand] = 2;
      seen.push_back(operand);
      phis.push_back(operand);
    }
  }
  for (const uint32_t node : seen) is_checked[node] = 1;
  if (only == kNone) return false;
  for (const uint32_t phi : phis) Replace(phi, only);
  return true;
}

bool PhiGraph::OptimizeOnce() {
  bool changed = false;
  std::vector<uint8_t> is_checked(nodes_.size(), 0);
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    if (!node.is_phi || node.replaced_by != kNone) continue;
    std::erase(node.operands, n);
    std::erase(node.users, n);
    if (node.operands.empty()) continue;
    if (std::ranges::all_of(node.operands, [&](uint32_t o) { return o == node.operands[0]; })) {
      Replace(n, node.operands[0]);
      changed = true;
      continue;
    }
    if (is_checked[n] != 0) continue;
    changed |= ReplaceClosure(n, is_checked);
  }
  return changed;
}

void PhiGraph::Optimize() {
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    for (const uint32_t operand : nodes_[n].operands) nodes_[operand].users.push_back(n);
  }
  while (OptimizeOnce()) {
  }
}

ValueId PhiGraph::Replacement(ValueId id) const {
  const uint32_t node = NodeOf(id);
  return node == kNone ? id : nodes_[Resolve(node)].value;
}

}  // namespace stowplan
