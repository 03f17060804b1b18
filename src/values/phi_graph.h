// SPDX-License-Identifier: Apache-2.0
// Which phis join which values, and which of them are one value after all.
//
// A loop's parameter joins the first value and what the body returns. If the body hands its
// parameter back unchanged, the phis of the loop join nothing but the first value (and each other),
// and it stands for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowplan/values/value_flow.h"

namespace stowplan {

class PhiGraph {
 public:
  // `phi` joins `inputs`, in place of what it joined before.
  void Register(ValueId phi, std::span<const ValueId> inputs);
  // The inputs as registered, with duplicates. Needs a registered phi.
  [[nodiscard]] std::span<const ValueId> InputsOf(ValueId phi) const {
    return inputs_[NodeOf(phi)];
  }
  // Finds the phis that join a single value.
  void Optimize();
  // After Optimize: the value that stands for this one; itself for most.
  [[nodiscard]] ValueId Replacement(ValueId id) const;

 private:
  static constexpr uint32_t kNone = 0xffffffffU;
  struct Node {
    ValueId value;
    bool is_phi = false;
    uint32_t replaced_by = kNone;  // a node; not kNone: this one is dead
    std::vector<uint32_t> operands;
    std::vector<uint32_t> users;  // as often as they name this one
  };
  uint32_t AddNode(ValueId id);
  [[nodiscard]] uint32_t NodeOf(ValueId id) const {
    return id.index < node_of_.size() ? node_of_[id.index] : kNone;
  }
  [[nodiscard]] uint32_t Resolve(uint32_t node) const;
  void Replace(uint32_t node, uint32_t by);
  bool OptimizeOnce();
  bool ReplaceClosure(uint32_t start, std::vector<uint8_t>& is_checked);

  std::vector<Node> nodes_;                   // as they came up
  std::vector<std::vector<ValueId>> inputs_;  // by node
  std::vector<uint32_t> node_of_;             // by value
};

}  // namespace stowplan
