// SPDX-License-Identifier: Apache-2.0
// Which phis join which values, and which phis are really a single value.
//
// A loop's parameter joins the first value and what the body returns. If the body hands its
// parameter back unchanged, the phis of the loop join only the first value (and each other), and
// that value replaces them all.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "values/value_flow.h"

namespace stowplan {

class PhiGraph {
 public:
  // `phi` now joins `inputs`, instead of what it joined before.
  void Register(ValueId phi, std::span<const ValueId> inputs);
  // Numbers values that a phi joins, before Register is called for it.
  void Mention(std::span<const ValueId> values);
  // The inputs as registered, with duplicates. Needs a registered phi.
  [[nodiscard]] std::span<const ValueId> InputsOf(ValueId phi) const {
    return inputs_[NodeOf(phi)];
  }
  // Finds the phis that join a single value.
  void Optimize();
  // After Optimize: the value that replaces this one; usually itself.
  [[nodiscard]] ValueId Replacement(ValueId id) const;

 private:
  static constexpr uint32_t kNone = 0xffffffffU;
  static constexpr size_t kFew = 32;
  struct Node {
    ValueId value;
    bool is_phi = false;
    uint32_t replaced_by = kNone;  // a node; if not kNone, this one is dead
    std::vector<uint32_t> operands;
    std::vector<uint32_t> users;
  };
  // How far a pass has come with a node.
  struct Mark {
    bool is_checked = false;  // seen in a closure
    bool is_open = false;     // in the current closure
    bool is_failure = false;  // its own closure has two values
  };
  uint32_t AddNode(ValueId id);
  [[nodiscard]] uint32_t NodeOf(ValueId id) const {
    return id.index < node_of_.size() ? node_of_[id.index] : kNone;
  }
  uint32_t Resolve(uint32_t node);
  void Replace(uint32_t node, uint32_t by);
  void FindUsers();
  void FindWideOperands(uint32_t node);
  void ReplaceOperand(uint32_t user, uint32_t node, uint32_t by);
  void ReplaceUser(uint32_t operand, uint32_t node, uint32_t by);
  void RemoveItself(uint32_t node);
  bool OptimizeOnce();
  bool ReplaceClosure(uint32_t start, std::vector<Mark>& marks);

  std::vector<Node> nodes_;                   // in the order of their discovery
  std::vector<std::vector<ValueId>> inputs_;  // by node
  std::vector<uint32_t> node_of_;             // by value
  // For nodes with many operands, the position of each operand; for nodes with many users, the
  // users as a set instead of a list. Searching the lists would cost n * n when n phis are
  // replaced.
  std::unordered_map<uint32_t, std::unordered_map<uint32_t, std::vector<uint32_t>>> wide_operands_;
  std::unordered_map<uint32_t, std::unordered_set<uint32_t>> wide_users_;
};

}  // namespace stowplan
