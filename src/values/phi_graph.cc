// SPDX-License-Identifier: Apache-2.0
#include "values/phi_graph.h"

#include <algorithm>
#include <utility>

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

void PhiGraph::Mention(std::span<const ValueId> values) {
  for (const ValueId id : values) AddNode(id);
}

void PhiGraph::FindUsers() {
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    for (const uint32_t operand : nodes_[n].operands) nodes_[operand].users.push_back(n);
    FindWideOperands(n);
  }
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    std::vector<uint32_t>& users = nodes_[n].users;
    if (users.size() <= kFew) continue;
    wide_users_[n].insert(users.begin(), users.end());
    users.clear();
  }
}

void PhiGraph::FindWideOperands(uint32_t node) {
  const std::vector<uint32_t>& operands = nodes_[node].operands;
  if (operands.size() <= kFew) return;
  auto& places = wide_operands_[node];
  places.clear();
  for (uint32_t k = 0; k < operands.size(); ++k) places[operands[k]].push_back(k);
}

void PhiGraph::ReplaceOperand(uint32_t user, uint32_t node, uint32_t by) {
  std::vector<uint32_t>& operands = nodes_[user].operands;
  const auto wide = wide_operands_.find(user);
  if (wide == wide_operands_.end()) {
    std::ranges::replace(operands, node, by);
    return;
  }
  const auto found = wide->second.find(node);
  if (found == wide->second.end()) return;
  const std::vector<uint32_t> places = std::move(found->second);
  wide->second.erase(found);
  std::vector<uint32_t>& joined = wide->second[by];
  joined.insert(joined.end(), places.begin(), places.end());
  for (const uint32_t k : places) operands[k] = by;
}

void PhiGraph::ReplaceUser(uint32_t operand, uint32_t node, uint32_t by) {
  const auto wide = wide_users_.find(operand);
  if (wide == wide_users_.end()) {
    std::ranges::replace(nodes_[operand].users, node, by);
  } else if (wide->second.erase(node) != 0) {
    wide->second.insert(by);
  }
}

void PhiGraph::RemoveItself(uint32_t node) {
  std::erase(nodes_[node].users, node);
  if (const auto wide = wide_users_.find(node); wide != wide_users_.end()) wide->second.erase(node);
  if (std::erase(nodes_[node].operands, node) == 0) return;
  wide_operands_.erase(node);
  FindWideOperands(node);
}

uint32_t PhiGraph::Resolve(uint32_t node) {
  while (nodes_[node].replaced_by != kNone) {
    // The way gets shorter each time.
    const uint32_t next = nodes_[nodes_[node].replaced_by].replaced_by;
    if (next != kNone) nodes_[node].replaced_by = next;
    node = nodes_[node].replaced_by;
  }
  return node;
}

void PhiGraph::Replace(uint32_t node, uint32_t by) {
  if (nodes_[node].replaced_by != kNone) return;
  by = Resolve(by);
  if (by == node) return;
  // In whatever order: each of them is changed by itself.
  for (const uint32_t user : nodes_[node].users) ReplaceOperand(user, node, by);
  if (const auto wide = wide_users_.find(node); wide != wide_users_.end()) {
    for (const uint32_t user : wide->second) ReplaceOperand(user, node, by);
  }
  for (const uint32_t operand : nodes_[node].operands) ReplaceUser(operand, node, by);
  nodes_[node].replaced_by = by;
}

// When everything that `start` joins, directly or through other phis, is one value: it stands for
// all these phis.
bool PhiGraph::ReplaceClosure(uint32_t start, std::vector<Mark>& marks) {
  std::vector<uint32_t> phis = {start};
  uint32_t only = kNone;
  const auto close = [&] {
    for (const uint32_t node : phis)
      marks[node] = {.is_checked = true, .is_failure = marks[node].is_failure};
  };
  const auto fail = [&] {
    close();
    marks[start].is_failure = true;
    return false;
  };
  marks[start].is_open = true;
  for (size_t next = 0; next < phis.size(); ++next) {
    // All that is left to look at was looked at from there, and marked. Without this, the last of n
    // loops that stand one after the other would look at all loops before it.
    if (marks[phis[next]].is_failure && next + 1 == phis.size()) return fail();
    for (const uint32_t operand : nodes_[phis[next]].operands) {
      if (!nodes_[operand].is_phi) {
        if (only != kNone && only != operand) return fail();
        only = operand;
      } else if (!marks[operand].is_open) {
        marks[operand].is_open = true;
        phis.push_back(operand);
      }
    }
  }
  close();
  if (only == kNone) return false;
  for (const uint32_t phi : phis) Replace(phi, only);
  return true;
}

bool PhiGraph::OptimizeOnce() {
  bool changed = false;
  std::vector<Mark> marks(nodes_.size());
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (!node.is_phi || node.replaced_by != kNone) continue;
    RemoveItself(n);
    if (node.operands.empty()) continue;
    if (std::ranges::all_of(node.operands, [&](uint32_t o) { return o == node.operands[0]; })) {
      Replace(n, node.operands[0]);
      changed = true;
      continue;
    }
    if (!marks[n].is_checked) changed |= ReplaceClosure(n, marks);
  }
  return changed;
}

void PhiGraph::Optimize() {
  FindUsers();
  while (OptimizeOnce()) {
  }
  for (Node& node : nodes_) {
    if (node.replaced_by != kNone) node.replaced_by = Resolve(node.replaced_by);
  }
}

ValueId PhiGraph::Replacement(ValueId id) const {
  const uint32_t node = NodeOf(id);
  if (node == kNone) return id;
  const uint32_t by = nodes_[node].replaced_by;
  return nodes_[by == kNone ? node : by].value;
}

}  // namespace stowplan
