// SPDX-License-Identifier: Apache-2.0
// How values are found: first definitions, then a worklist that propagates them until nothing
// changes, phis where they meet, and last the phis that turn out to be one value.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "values/arrivals.h"
#include "values/phi_graph.h"
#include "values/value_flow.h"
#include "values/value_rows.h"
#include "values/worklist.h"

namespace stowplan {

class FlowBuilder {
 public:
  FlowBuilder(const hlo::Module& module, const Orders& orders, const CallGraph& calls,
              Positions positions);
  ValueFlow Run() &&;

 private:
  // define.cc: which positions define values.
  void DefineAll();
  void Define(hlo::InstrId id);
  void DefineAt(PositionId id);
  void DefineCollectivePermuteStart(hlo::InstrId id);
  template <class Test>
  void DefineWhere(hlo::InstrId id, Test test);

  // propagate.cc: the order in which instructions are visited and revisited.
  void NumberInstructions();
  void Propagate();
  void QueueUsers(hlo::InstrId id);
  void QueueCallers(hlo::InstrId root);
  void Queue(hlo::InstrId id) { worklist_.Add(ordinals_[id.index]); }

  // transfer.cc: what the other positions hold. True when that changed.
  bool Transfer(hlo::InstrId id);
  bool TransferCollectivePermuteStart(hlo::InstrId id);
  bool TransferAsync(hlo::InstrId id);
  [[nodiscard]] hlo::CompId AsyncComputation(hlo::InstrId id) const;
  [[nodiscard]] hlo::InstrId AsyncOperand(hlo::InstrId start, size_t k) const;
  // Positions are none if a shape has no such part; nothing is propagated then.
  bool Copy(PositionId to, PositionId from);
  bool CopyTree(PositionId to, PositionId from);
  bool CopyParts(PositionId to, PositionId from);
  bool CopyLeaves(PositionId to, PositionId from);
  // The values are sorted and distinct.
  bool Set(PositionId to, std::span<const ValueId> values);
  [[nodiscard]] std::span<const ValueId> At(PositionId id) const {
    return rows_.Of(flow_.single_[id.index]);
  }
  [[nodiscard]] PositionId Part(PositionId tuple, size_t k) const;
  [[nodiscard]] PositionId Operand(hlo::InstrId id, size_t k) const;
  [[nodiscard]] PositionId Root(hlo::CompId id) const;

  // join.cc: what arrives at an instruction from several others.
  struct Inputs {
    std::vector<hlo::InstrId> instructions;
    std::vector<uint32_t> weights;  // how often each counts
    bool needs_phi = false;
    void Add(hlo::InstrId id, uint32_t weight = 1) {
      instructions.push_back(id);
      weights.push_back(weight);
    }
  };
  // An instruction with many inputs. Only inputs that changed are visited again.
  struct WideJoin {
    Inputs inputs;
    std::vector<uint32_t> changed;  // inputs
    bool is_begun = false;
  };
  struct Feed {
    uint32_t join = 0;
    uint32_t input = 0;
  };
  void FindBranches();
  void FindWideJoins();
  [[nodiscard]] Inputs InputsOf(hlo::InstrId id) const;
  [[nodiscard]] Inputs InputsOfParameter(hlo::InstrId id) const;
  void AddBranchInputs(hlo::InstrId conditional, hlo::CompId computation, Inputs& inputs) const;
  void FeedJoins(hlo::InstrId id);
  bool Join(hlo::InstrId id);
  bool JoinFew(PositionId at, const Inputs& inputs);
  bool JoinMany(PositionId at, const Inputs& inputs, std::span<const uint32_t> changed);
  bool SetArrived(PositionId at, const Arrivals& arrivals, bool is_new);

  // phi.cc
  bool PhiAt(PositionId id);
  bool PhiOfMany(PositionId at, const Arrivals& arrivals);
  void RegisterPhisOfMany();
  void RemovePhis();

  // uses.cc
  void KeepRows();
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
  ValueRows rows_;               // what the slots of flow_.single_ name until KeepRows
  std::vector<ValueId> inputs_;  // that arrive at the current position
  // Of conditionals with many branches: the branches by computation.
  std::map<hlo::InstrId, std::vector<std::pair<hlo::CompId, uint32_t>>> branches_;
  std::vector<WideJoin> wide_joins_;
  std::vector<uint32_t> wide_join_of_;  // by instruction; empty without wide joins
  std::vector<uint32_t> feed_begins_;   // by instruction
  std::vector<Feed> feeds_;
  std::map<uint32_t, Arrivals> arrivals_;  // by position, where many arrive
};

}  // namespace stowplan
