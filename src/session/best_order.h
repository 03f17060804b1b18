// SPDX-License-Identifier: Apache-2.0
// What the order of a program's instructions costs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

struct BestOrder {
  PlannedModule planned;              // has OrderFacts
  std::vector<BestHeap> given_heaps;  // of the plan in the module's own order
  std::string certificate;  // what proves their loads and their bound, for stowplan-certify
};

// PlanInBestOrder, and its certificate if `certifies`.
Result<BestOrder> FindBestOrder(std::string_view lead, const PlannedModule& planned,
                                const PlanOptions& options, bool certifies);

// What a small search says about the order that a module came with: loads and the bound. Nothing is
// planned, so `bytes` and `given_bytes` are 0.
struct OrderGlance {
  std::optional<OrderFacts> facts;  // nothing: not searched
  std::string reason;               // why not; empty if there is nothing to say
};
// Takes a fixed effort, about as long as explaining a plan does.
OrderGlance GlanceAtOrder(const PlannedModule& planned, const PlanOptions& options);

}  // namespace stowplan
