// SPDX-License-Identifier: Apache-2.0
// What the tests of advice have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "advise/plan.h"
#include "hlo/print.h"
#include "unit/planning.h"

namespace stowplan::advise {

inline Setting CpuSetting() {
  return {RulesOf(*FindTarget("cpu"), "jaxlib-0.10.2"), *report::FindReportStyle("jaxlib-0.10.2")};
}

inline Figures FiguresOfProgram(const hlo::Module& module) {
  const Result<Plan> plan = PlanOf(module, CpuSetting(), std::nullopt);
  EXPECT_TRUE(plan.has_value()) << Render(plan.error());
  if (!plan) return {};
  EXPECT_EQ(WhyUnsound(module, plan->tried.made, CpuSetting()), "");
  return plan->figures;
}

// The names of the entry computation, in the order of execution.
inline std::string OrderOf(const hlo::Module& module) {
  std::string out;
  for (const hlo::InstrId id : module.schedule_of(module.entry))
    out += (out.empty() ? "" : " ") + std::string(module.name(id));
  return out;
}

inline int CountCopies(const hlo::Module& module) {
  int count = 0;
  for (const hlo::Instruction& row : module.instructions.rows())
    count += row.opcode == hlo::Opcode::kCopy ? 1 : 0;
  return count;
}

}  // namespace stowplan::advise
