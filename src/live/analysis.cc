// SPDX-License-Identifier: Apache-2.0
#include "stowplan/live/analysis.h"

namespace stowplan {

Result<Analysis> Analyze(const hlo::Module& module, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.orders = FindOrders(module, options.computations);
  STOWPLAN_TRY(analysis.calls, FindCallGraph(module, analysis.orders));
  STOWPLAN_TRY(analysis.schedule, Flatten(module, analysis.orders));
  STOWPLAN_TRY(analysis.flow, FindValues(module, analysis.orders, analysis.calls));
  analysis.pairs = FindInPlacePairs(module, analysis.flow.positions, options.reshapes);
  analysis.buffers = FindBuffers(module, analysis.flow, analysis.pairs);
  analysis.live = FindLiveRanges(module, analysis.schedule, analysis.flow, analysis.buffers,
                                 options.async_birth);
  return analysis;
}

}  // namespace stowplan
