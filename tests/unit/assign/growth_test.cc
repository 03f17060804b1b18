// SPDX-License-Identifier: Apache-2.0
// Planning takes time in proportion to the program.
#include "growth.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "assign/rules.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

TEST(AssignGrowth, ManyOperandsTakeLinearTime) {
  const Rules rules = RulesOf(*FindTarget("cpu"));
  const auto work_of = [&](size_t count) {
    std::string text = "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[8]{0} parameter(0)\n";
    std::string names;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "x" + std::to_string(i);
      text += "  " + name + " = f32[8]{0} negate(p)\n";
      names += (i == 0 ? "" : ", ") + name;
    }
    text += "  ROOT y = f32[" + std::to_string(8 * count) + "]{0} concatenate(" + names +
            "), dimensions={0}\n}";
    const auto program = std::make_shared<Program>(AnalyzeProgram(text, rules.analysis));
    return std::function<void()>([program, &rules] {
      EXPECT_TRUE(Assign(program->module, program->analysis, rules, std::nullopt).has_value());
    });
  };
  EXPECT_TRUE(TimeIsLinear(work_of, 40'000));
}

}  // namespace
}  // namespace stowplan
