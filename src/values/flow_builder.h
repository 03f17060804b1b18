// SPDX-License-Identifier: Apache-2.0
// How values are found: definitions first, then a worklist that hands them on until nothing
// changes, phis where they meet, and last the phis that turned out to be one value.
#pragma once

#include <span>
#include <vector>

#include "stowplan/values/value_flow.h"
#include "values/phi_graph.h"
#include "values/worklist.h"

namespace stowplan {

class FlowBuilder {
 public:
  FlowBuilder(const hlo::Module& module, const Orders& orders, const CallGraph& calls,
              Positions positions);
  ValueFlow Run() &&;

 private:
  // define.cc: which positions bear values of their own.
  void DefineAll();
  void Define(hlo::InstrId id);
  void DefineAt(PositionId id);
  void DefineCollectivePermuteStart(hlo::InstrId id);
  template <class Test>
  void DefineWhere(hlo::InstrId id, Test test);

  // propagate.cc: in which order instructions are looked at, and looked at again.
  void NumberInstructions();
  void Propagate();
  void QueueUsers(hlo::InstrId id);
  void QueueCallers(hlo::InstrId root);
  void Queue(hlo::InstrId id) { worklist_.Add(ordinals_[id.index]); }

  // transfer.cc: what the other positions hold. True when that changed.
  bool Transfer(hlo::InstrId id);
  bool TransferParameter(hlo::InstrId id);
  bool TransferCollectivePermuteStart(hlo::InstrId id);
  bool TransferAsync(hlo::InstrId id);
  [[nodiscard]] hlo::CompId AsyncComputation(hlo::InstrId id) const;
  [[nodiscard]] hlo::InstrId AsyncOperand(hlo::InstrId start, size_t k) const;
  // Positions are none where a shape has no such part; nothing is handed on then.
  bool Copy(PositionId to, PositionId from);
  bool CopyTree(PositionId to, PositionId from);
  bool CopyParts(PositionId to, PositionId from);
  bool CopyLeaves(PositionId to, PositionId from);
  bool Set(PositionId to, std::span<const ValueId> values);
  [[nodiscard]] PositionId Part(PositionId tuple, size_t k) const;
  [[nodiscard]] PositionId Operand(hlo::InstrId id, size_t k) const;
  [[nodiscard]] PositionId Root(hlo::CompId id) const;

  // phi.cc
  bool Phi(hlo::InstrId id, std::span<const hlo::InstrId> inputs);
  bool PhiAt(PositionId id);
  void RemovePhis();

  // uses.cc
  void FindPositions();
  void FindUses();

  const hlo::Module& module_;
  const Orders& orders_;
  const CallGraph& calls_;
  ValueFlow flow_;
  std::vector<uint32_t> ordinals_;  // by instruction
  std::vector<hlo::InstrId> by_ordinal_;
  Worklist worklist_;
  PhiGraph phis_;
  std::vector<ValueId> inputs_;  // of the phi being looked at
};

}  // namespace stowplan
