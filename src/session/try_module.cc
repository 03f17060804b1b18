// SPDX-License-Identifier: Apache-2.0
#include "session/try_module.h"

#include <utility>

#include "base/checked_math.h"

namespace stowplan {

std::optional<PlannedModule> TryModule(std::shared_ptr<const hlo::Module> module,
                                       const Setting& setting, const PlannedModule& given,
                                       const PlanOptions& options) {
  Result<Analysis> analysis = Analyze(*module, setting.rules.analysis);
  if (!analysis) return std::nullopt;
  Prepared prepared = {.module = module,
                       .setting = setting,
                       .analysis = std::make_shared<const Analysis>(*std::move(analysis)),
                       .notes = {}};
  // XLA's places in fast memory belong to XLA's program.
  const PlannedModule program = {.name = given.name,
                                 .module = std::move(module),
                                 .report = nullptr,
                                 .origin = Origin::kGiven,
                                 .verdict = {},
                                 .target = given.target,
                                 .release = given.release};
  PlanOptions strict = options;
  strict.preset.clear();
  strict.allow_unsound = false;
  strict.allow_unchecked = false;
  Result<PlannedModule> plan = PlanPrepared({}, program, std::move(prepared), strict);
  if (!plan) return std::nullopt;
  return *std::move(plan);
}

int64_t BytesIn(const PlannedModule& planned, int64_t color) {
  int64_t sum = 0;
  for (const report::Allocation& allocation : planned.report->allocations.rows()) {
    if (allocation.color == color) sum = SaturatingAdd(sum, allocation.size);
  }
  return sum;
}

}  // namespace stowplan
