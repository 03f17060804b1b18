// SPDX-License-Identifier: Apache-2.0
#include "values/value_flow.h"

#include "values/flow_builder.h"

namespace stowplan {

FlowBuilder::FlowBuilder(const hlo::Module& module, const Orders& orders, const CallGraph& calls,
                         Positions positions)
    : module_(module), orders_(orders), calls_(calls), worklist_(module.instructions.size()) {
  flow_.positions = std::move(positions);
  flow_.single_.resize(flow_.positions.size());
}

ValueFlow FlowBuilder::Run() && {
  DefineAll();
  NumberInstructions();
  FindWideJoins();
  Propagate();
  RemovePhis();
  KeepRows();
  FindPositions();
  FindUses();
  flow_.is_live_out_.assign(flow_.values.size(), 0);
  const hlo::InstrId root = module_.computations[module_.entry].root;
  for (uint32_t k = 0; k < flow_.positions.count(root); ++k) {
    for (const ValueId value : flow_.at(flow_.positions.At(root, k)))
      flow_.is_live_out_[value.index] = 1;
  }
  return std::move(flow_);
}

Result<ValueFlow> FindValues(const hlo::Module& module, const Orders& orders,
                             const CallGraph& calls) {
  STOWPLAN_TRY(Positions positions, Positions::Of(module));
  return FlowBuilder(module, orders, calls, std::move(positions)).Run();
}

}  // namespace stowplan
