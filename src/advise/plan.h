// SPDX-License-Identifier: Apache-2.0
// A program's plan in a few figures, by which advice is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/make_plan.h"
#include "session/setting.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::advise {

struct SpaceFigures {
  int64_t color = 0;
  int64_t bytes = 0;  // of all allocations that are not thread-local
  int64_t peak = 0;   // the true one (report/peak.h)
  friend bool operator==(const SpaceFigures&, const SpaceFigures&) = default;
};

// Sums of allocations, as JAX's memory_analysis() has them.
struct Figures {
  int64_t argument = 0;  // parameters
  int64_t output = 0;    // what may hold the result, including donated parameters
  int64_t alias = 0;     // parameters that are returned as part of the result
  int64_t temp = 0;
  int64_t bytes = 0;                 // of all allocations that are not thread-local
  std::vector<SpaceFigures> spaces;  // by color
  friend bool operator==(const Figures&, const Figures&) = default;

  [[nodiscard]] SpaceFigures Space(int64_t color) const;
};

struct Plan {
  TriedPlan tried;
  Figures figures;
};

[[nodiscard]] Result<Figures> FiguresOf(const report::Report& report);

// The figures of a plan made by TryPlan.
[[nodiscard]] Result<Plan> PlanOf(const hlo::Module& module, const Setting& setting,
                                  const std::optional<Preset>& preset);

// Why the plan is not known to be sound; empty if it is.
[[nodiscard]] std::string WhyUnsound(const hlo::Module& module, const MadePlan& made,
                                     const Setting& setting);

}  // namespace stowplan::advise
