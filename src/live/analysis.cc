// SPDX-License-Identifier: Apache-2.0
#include "live/analysis.h"

namespace stowplan {

Result<Analysis> Analyze(const hlo::Module& module, const AnalysisOptions& options,
                         const StageObserver& observe) {
  const auto done = [&](std::string_view stage) {
    if (observe) observe(stage);
  };
  Analysis analysis;
  analysis.orders = FindOrders(module, options.computations, options.post_order);
  done("orders");
  STOWPLAN_TRY(analysis.calls, FindCallGraph(module, analysis.orders));
  done("calls");
  STOWPLAN_TRY(analysis.schedule, Flatten(module, analysis.orders));
  done("schedule");
  STOWPLAN_TRY(analysis.flow, FindValues(module, analysis.orders, analysis.calls));
  done("values");
  analysis.pairs = FindInPlacePairs(module, analysis.flow.positions, options.no_ops);
  analysis.buffers = FindBuffers(module, analysis.flow, analysis.pairs);
  done("aliases");
  analysis.live = FindLiveRanges(module, analysis.schedule, analysis.flow, analysis.buffers,
                                 options.async_birth);
  done("live-ranges");
  return analysis;
}

}  // namespace stowplan
