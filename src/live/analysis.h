// SPDX-License-Identifier: Apache-2.0
// Everything known about a program before its memory is planned: the results of the stages, in
// order.
#pragma once

#include <functional>
#include <string_view>

#include "buffers/buffer_set.h"
#include "buffers/in_place.h"
#include "live/live_ranges.h"
#include "schedule/call_graph.h"
#include "schedule/orders.h"
#include "schedule/schedule.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "values/value_flow.h"

namespace stowplan {

struct AnalysisOptions {
  ComputationList computations = ComputationList::kById;
  ComputationPostOrder post_order = ComputationPostOrder::kLowestFirst;
  NoOps no_ops = NoOps::kBitcasts;
  AsyncBirth async_birth = AsyncBirth::kOwnTime;
};

struct Analysis {
  Orders orders;
  CallGraph calls;
  Schedule schedule;
  ValueFlow flow;
  InPlacePairs pairs;
  BufferSet buffers;
  LiveRanges live;
};

// Called after each stage, with its name.
using StageObserver = std::function<void(std::string_view stage)>;

// Requires a module without complaints (hlo::Verify). Fails if it is not scheduled, or calls a
// computation in two ways.
Result<Analysis> Analyze(const hlo::Module& module, const AnalysisOptions& options,
                         const StageObserver& observe = {});

}  // namespace stowplan
