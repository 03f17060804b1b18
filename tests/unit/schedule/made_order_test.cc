// SPDX-License-Identifier: Apache-2.0
// The order in which computations were made, from their names.
#include "schedule/made_order.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/planning.h"

namespace stowplan {
namespace {

using testing::ElementsAre;

std::vector<std::string> NamesOf(const hlo::Module& module, const std::vector<hlo::CompId>& list) {
  std::vector<std::string> names;
  for (const hlo::CompId id : list) names.emplace_back(module.name(id));
  return names;
}

// A loop and a reduction as XLA prints them: what the body calls first comes first.
constexpr std::string_view kLoopOfRegions = R"(HloModule m, is_scheduled=true

wrapped_add_computation {
  param_0.9 = s32[] parameter(0)
  ROOT a = s32[] add(param_0.9, param_0.9)
}

fused_computation.10 {
  param_0.8 = f32[] parameter(0)
  ROOT b = f32[] add(param_0.8, param_0.8)
}

region_0.1 {
  t = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[] get-tuple-element(t), index=1
  j = s32[] fusion(i), kind=kLoop, calls=wrapped_add_computation
  y = f32[] fusion(x), kind=kLoop, calls=fused_computation.10
  ROOT r = (s32[], f32[]) tuple(j, y)
}

fused_computation.2 {
  param_0.3 = s32[] parameter(0)
  ROOT c = pred[] compare(param_0.3, param_0.3), direction=LT
}

region_1.2 {
  u = (s32[], f32[]) parameter(0)
  k = s32[] get-tuple-element(u), index=0
  ROOT l = pred[] fusion(k), kind=kLoop, calls=fused_computation.2
}

region_2.3.clone.1 {
  p.7 = f32[] parameter(0)
  q.7 = f32[] parameter(1)
  ROOT s.7 = f32[] add(p.7, q.7)
}

region_2.3.clone {
  p.6 = f32[] parameter(0)
  q.6 = f32[] parameter(1)
  ROOT s.6 = f32[] add(p.6, q.6)
}

ENTRY main.4 {
  n = s32[] parameter(0)
  v = f32[4] parameter(1)
  zero = f32[] constant(0)
  sum = f32[] reduce(v, zero), dimensions={0}, to_apply=region_2.3.clone.1
  more = f32[] reduce(v, sum), dimensions={0}, to_apply=region_2.3.clone
  w = (s32[], f32[]) tuple(n, more)
  ROOT while.1 = (s32[], f32[]) while(w), condition=region_1.2, body=region_0.1
}
)";

TEST(MadeOrder, NamesTellWhoWasMadeWhen) {
  const hlo::Module module = ParseProgram(kLoopOfRegions);
  EXPECT_THAT(
      NamesOf(module, OrderOfMaking(module)),
      ElementsAre("region_0.1", "region_1.2", "main.4", "region_2.3.clone", "region_2.3.clone.1",
                  "fused_computation.2", "fused_computation.10", "wrapped_add_computation"));
}

TEST(MadeOrder, OfThoseWhoseCalleesAreDoneTheFirstIsNext) {
  const hlo::Module module = ParseProgram(kLoopOfRegions);
  EXPECT_THAT(
      NamesOf(module, CalleesFirst(module, OrderOfMaking(module))),
      ElementsAre("region_2.3.clone", "region_2.3.clone.1", "fused_computation.2", "region_1.2",
                  "fused_computation.10", "wrapped_add_computation", "region_0.1", "main.4"));
}

TEST(MadeOrder, NamesOfOneNumberGoByTheName) {
  const hlo::Module module = ParseProgram(R"(HloModule m
region_10.0 {
  ROOT p = f32[] parameter(0)
}
region_9.0 {
  ROOT p = f32[] parameter(0)
}
ENTRY main.1 {
  x = f32[] parameter(0)
  y = f32[] call(x), to_apply=region_10.0
  ROOT z = f32[] call(y), to_apply=region_9.0
}
)");
  EXPECT_THAT(NamesOf(module, OrderOfMaking(module)),
              ElementsAre("region_9.0", "region_10.0", "main.1"));
}

TEST(MadeOrder, NamesByHandTellNothing) {
  for (const std::string_view entry : {"main", "main.99999999999999999999", "e.1.x"}) {
    const hlo::Module module = ParseProgram(
        "HloModule m\nsum.2 {\n  ROOT p = f32[] parameter(0)\n}\n"
        "sum.1 {\n  ROOT p = f32[] parameter(0)\n}\nENTRY " +
        std::string(entry) +
        " {\n  x = f32[] parameter(0)\n"
        "  y = f32[] call(x), to_apply=sum.1\n"
        "  ROOT z = f32[] call(y), to_apply=sum.2\n}\n");
    EXPECT_THAT(NamesOf(module, OrderOfMaking(module)), ElementsAre("sum.2", "sum.1", entry));
  }
}

}  // namespace
}  // namespace stowplan
