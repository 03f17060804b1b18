// SPDX-License-Identifier: Apache-2.0
#include "advise/breadth_first.h"

#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

TEST(BreadthFirst, KeepsItsOwnOrders) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  q = f32[4]{0} parameter(1)
  b = f32[4]{0} negate(p)
  a = f32[4]{0} add(p, q)
  c = f32[4]{0} negate(q)
  ROOT t = (f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(a, b, c)
}
)");
  EXPECT_TRUE(IsBreadthFirst(module, module.entry));
}

TEST(BreadthFirst, KnowsOtherOrders) {
  // Depth first: c runs before b, which was ready before.
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  c = f32[4]{0} negate(a)
  b = f32[4]{0} abs(p)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(b, c)
}
)");
  EXPECT_FALSE(IsBreadthFirst(module, module.entry));
  const std::vector<hlo::InstrId> order =
      BreadthFirst(module, module.entry, RanksOf(module, module.entry));
  std::string names;
  for (const hlo::InstrId id : order) names += std::string(module.name(id));
  EXPECT_EQ(names, "pabct");
}

TEST(BreadthFirst, WaitsForControlPredecessors) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  c = f32[4]{0} abs(p), control-predecessors={a}
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(a, c)
}
)");
  EXPECT_TRUE(IsBreadthFirst(module, module.entry));
}

}  // namespace
}  // namespace stowplan::advise
