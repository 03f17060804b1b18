// SPDX-License-Identifier: Apache-2.0
#include "best/best.h"

#include <gtest/gtest.h>

#include "unit/planning.h"

namespace stowplan {
namespace {

struct Planned {
  Program program;
  Assignment xla;
  BestPlan best;

  [[nodiscard]] const Place& PlaceOf(std::string_view name, std::vector<int64_t> index = {}) const {
    return best.assignment.places[program.ValueAt(name, std::move(index)).index];
  }
};

Planned PlanOf(std::string_view text, const Rules& rules, const BestOptions& options = {}) {
  Program program = AnalyzeProgram(text, rules.analysis);
  Result<Assignment> xla = Assign(program.module, program.analysis, rules, std::nullopt);
  Result<BestPlan> best =
      AssignBest(program.module, program.analysis, rules, std::nullopt, options);
  EXPECT_TRUE(xla.has_value() && best.has_value());
  EXPECT_EQ(Render(FindOverlaps(program.module, program.analysis, best->assignment)), "");
  return {std::move(program), *std::move(xla), *std::move(best)};
}

// Each is read by the next two. Largest first and longest first both leave a hole.
constexpr std::string_view kHole = R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1] parameter(0)
  a = f32[320] custom-call(p), custom_call_target="f"
  b = f32[256] custom-call(a), custom_call_target="f"
  c = f32[192] custom-call(a, b), custom_call_target="f"
  d = f32[448] custom-call(b, c), custom_call_target="f"
  x = f32[384] custom-call(c, d), custom_call_target="f"
  y = f32[128] custom-call(d, x), custom_call_target="f"
  z = f32[512] custom-call(x, y), custom_call_target="f"
  w = f32[256] custom-call(y, z), custom_call_target="f"
  ROOT r = f32[1] custom-call(w, z), custom_call_target="f"
}
)";

TEST(Best, IsAtTheBoundWhereXlaIsNot) {
  const Planned planned = PlanOf(kHole, RulesOf(*FindTarget("cpu")));
  ASSERT_EQ(planned.best.heaps.size(), 1U);
  const BestHeap& heap = planned.best.heaps[0];
  EXPECT_TRUE(heap.is_optimal());
  EXPECT_TRUE(heap.bound_time.has_value());
  EXPECT_LT(heap.bytes, heap.xla_bytes);
  EXPECT_EQ(MainMemory(planned.xla) - MainMemory(planned.best.assignment),
            heap.xla_bytes - heap.bytes);
}

// The time sweep lets nothing lie in the result's buffer.
constexpr std::string_view kLateResult = R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1024]{0:T(1024)} parameter(0)
  a = f32[8192]{0:T(1024)} custom-call(p), custom_call_target="f"
  b = f32[1024]{0:T(1024)} custom-call(a), custom_call_target="f"
  ROOT r = f32[8192]{0:T(1024)} custom-call(b), custom_call_target="f"
}
)";

TEST(Best, UsesABufferOfTheResultBeforeThatIsBorn) {
  const Planned planned = PlanOf(kLateResult, RulesOf(*FindTarget("tpu-v5e")));
  EXPECT_EQ(planned.PlaceOf("a").allocation, planned.PlaceOf("r").allocation);
  EXPECT_NE(planned.PlaceOf("b").allocation, planned.PlaceOf("r").allocation);
  ASSERT_EQ(planned.best.heaps.size(), 1U);
  EXPECT_EQ(planned.best.heaps[0].xla_guests, 0);
  EXPECT_GE(planned.best.heaps[0].guests, 1);
  EXPECT_EQ(planned.best.heaps[0].bytes, 4096);
  EXPECT_EQ(planned.best.heaps[0].floor, 4096);
}

constexpr std::string_view kDonated =
    R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY e {
  p = f32[8192]{0:T(1024)} parameter(0)
  s = f32[1024]{0:T(1024)} custom-call(p), custom_call_target="f"
  a = f32[4096]{0:T(1024)} custom-call(s), custom_call_target="f"
  b = f32[4096]{0:T(1024)} custom-call(a), custom_call_target="f"
  c = f32[1024]{0:T(1024)} custom-call(a, b), custom_call_target="f"
  ROOT r = f32[8192]{0:T(1024)} custom-call(c), custom_call_target="f"
}
)";

TEST(Best, UsesADonatedParameterBetweenItsLastReadAndTheResult) {
  const Planned planned = PlanOf(kDonated, RulesOf(*FindTarget("tpu-v5e")));
  const AllocationId host = planned.PlaceOf("p").allocation;
  EXPECT_EQ(planned.PlaceOf("r").allocation, host);
  // Both at once, side by side.
  EXPECT_EQ(planned.PlaceOf("a").allocation, host);
  EXPECT_EQ(planned.PlaceOf("b").allocation, host);
  EXPECT_NE(planned.PlaceOf("a").offset, planned.PlaceOf("b").offset);
  // s is born while p is read, and c is read when r is born.
  EXPECT_NE(planned.PlaceOf("s").allocation, host);
  EXPECT_NE(planned.PlaceOf("c").allocation, host);
}

TEST(Best, KeepsTheValuesOfABufferTogether) {
  const std::string loop = std::string(kLoop);
  const Planned planned = PlanOf(loop, RulesOf(*FindTarget("cpu")));
  const BufferSet& buffers = planned.program.analysis.buffers;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const Place& first = planned.best.assignment.places[buffers.values_of(BufferId(b))[0].index];
    for (const ValueId id : buffers.values_of(BufferId(b))) {
      EXPECT_EQ(planned.best.assignment.places[id.index].allocation, first.allocation);
      EXPECT_EQ(planned.best.assignment.places[id.index].offset, first.offset);
    }
  }
}

TEST(Best, KeepsXlasPlanWhereNoneIsLower) {
  const Planned planned = PlanOf(kLoop, RulesOf(*FindTarget("cpu")));
  for (const BestHeap& heap : planned.best.heaps) EXPECT_EQ(heap.bytes, heap.xla_bytes);
  ASSERT_EQ(planned.best.assignment.allocations.size(), planned.xla.allocations.size());
  for (size_t v = 0; v < planned.xla.places.size(); ++v) {
    EXPECT_EQ(planned.best.assignment.places[v].allocation, planned.xla.places[v].allocation);
    EXPECT_EQ(planned.best.assignment.places[v].offset, planned.xla.places[v].offset);
  }
}

TEST(Best, OpensNoHeapBeyondTheLimitOfHeaps) {
  Rules rules = RulesOf(*FindTarget("cpu"));
  rules.heap_limit = 2000;
  const Planned planned = PlanOf(kHole, rules);
  ASSERT_EQ(planned.best.heaps.size(), 1U);
  EXPECT_EQ(planned.best.heaps[0].bytes, planned.best.heaps[0].xla_bytes);
}

TEST(Best, StopsWhenItIsTold) {
  const Planned planned =
      PlanOf(kHole, RulesOf(*FindTarget("cpu")), {.should_stop = [] { return true; }});
  ASSERT_EQ(planned.best.heaps.size(), 1U);
  EXPECT_LE(planned.best.heaps[0].bytes, planned.best.heaps[0].xla_bytes);
}

TEST(Best, FailsWhereAssignDoes) {
  const Rules rules = RulesOf(*FindTarget("cpu"));
  const Program program = AnalyzeProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1073741824,1073741824] parameter(0)
  ROOT r = f32[1073741824,1073741824] negate(p)
}
)");
  EXPECT_FALSE(AssignBest(program.module, program.analysis, rules, std::nullopt, {}).has_value());
}

}  // namespace
}  // namespace stowplan
