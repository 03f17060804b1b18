// SPDX-License-Identifier: Apache-2.0
// Plans for changed modules.
#pragma once

#include <memory>
#include <optional>

#include "session/make_plan.h"
#include "stowplan/plan.h"
#include "stowplan/session.h"

namespace stowplan {

// A plan for a module that was made from that of `given`, for the same machine, by the options'
// policy. Nothing if there is no sound one.
std::optional<PlannedModule> TryModule(std::shared_ptr<const hlo::Module> module,
                                       const Setting& setting, const PlannedModule& given,
                                       const PlanOptions& options);

// All allocations of a memory space together.
int64_t BytesIn(const PlannedModule& planned, int64_t color);

}  // namespace stowplan
