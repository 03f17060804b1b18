// SPDX-License-Identifier: Apache-2.0
// Orders, calls, the time line, and schedules made for programs without one.
#include "schedule/schedule.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/make_schedule.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string PostOrder(std::string_view text) {
  const std::string dump = DumpOf(text, "orders");
  const size_t at = dump.rfind("post-order:");
  return dump.substr(at, dump.find('\n', at) - at);
}

TEST(Orders, PostOrderHasTheFirstOperandFirst) {
  EXPECT_EQ(PostOrder(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[4] parameter(0)
  x = f32[4] negate(a)
  y = f32[4] abs(a)
  ROOT s = f32[4] add(y, x)
})"),
            "post-order: a y x s");
}

TEST(Orders, ControlPredecessorsComeBeforeOperandsTheLastOneFirst) {
  EXPECT_EQ(PostOrder(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[4] parameter(0)
  x = f32[4] negate(a)
  z = f32[4] sine(a)
  y = f32[4] abs(a), control-predecessors={x, z}
  s = f32[4] add(y, x)
  ROOT t = f32[4] add(s, z)
})"),
            "post-order: a z x y s t");
}

TEST(Orders, WhatNobodyReadsComesInItsTurn) {
  EXPECT_EQ(PostOrder(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[4] parameter(0)
  u = f32[4] parameter(1)
  x = f32[4] negate(a)
  dead = f32[4] sine(a)
  ROOT r = f32[4] abs(x)
  late = f32[4] cosine(a)
})"),
            "post-order: u a dead x r late");
}

TEST(Orders, ReadsCountEveryOperandAndUsersOnce) {
  const Program program = AnalyzeProgram(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[4] parameter(0)
  x = f32[4] negate(a)
  m = f32[4] multiply(a, a)
  ROOT s = f32[4] add(x, m)
})");
  const Orders& orders = program.analysis.orders;
  ASSERT_EQ(orders.reads_of(program.Find("a")).size(), 3U);
  EXPECT_EQ(orders.reads_of(program.Find("a"))[2].user, program.Find("m"));
  EXPECT_EQ(orders.reads_of(program.Find("a"))[2].operand, 1U);
  EXPECT_THAT(orders.users_of(program.Find("a")),
              ElementsAre(program.Find("x"), program.Find("m")));
  EXPECT_TRUE(orders.users_of(program.Find("s")).empty());
}

constexpr std::string_view kNest = R"(HloModule nest, is_scheduled=true
add {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT sum = f32[] add(l, r)
}
fused {
  fp = f32[4] parameter(0)
  fz = f32[] constant(0)
  ROOT fr = f32[] reduce(fp, fz), dimensions={0}, to_apply=add
}
called {
  kp = f32[4] parameter(0)
  ROOT kn = f32[4] negate(kp)
}
yes {
  yp = f32[4] parameter(0)
  ROOT yc = f32[4] call(yp), to_apply=called
}
no {
  np = f32[4] parameter(0)
  ROOT nc = f32[4] call(np), to_apply=called
}
ENTRY e {
  a = f32[4] parameter(0)
  ok = pred[] parameter(1)
  f = f32[] fusion(a), kind=kInput, calls=fused
  c = f32[4] conditional(ok, a, a), true_computation=yes, false_computation=no
  b = f32[4] broadcast(f), dimensions={}
  ROOT z = f32[4] add(b, c)
}
)";

TEST(Calls, ContextsComeFromTheCallers) {
  EXPECT_EQ(DumpOf(kNest, "calls"),
            "computation add: embedded\n"
            "  called by fr of fused\n"
            "computation fused: embedded, fused\n"
            "  called by f of e\n"
            "computation called: control flow\n"
            "  called by yc of yes\n"
            "  called by nc of no\n"
            "computation yes: control flow\n"
            "  called by c of e\n"
            "computation no: control flow\n"
            "  called by c of e\n"
            "computation e: control flow\n");
}

TEST(Calls, ACallInsideAnEmbeddedComputationIsEmbedded) {
  EXPECT_THAT(DumpOf(R"(HloModule m, is_scheduled=true
inner {
  ip = f32[] parameter(0)
  ROOT in = f32[] negate(ip)
}
add {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  k = f32[] call(r), to_apply=inner
  ROOT sum = f32[] add(l, k)
}
ENTRY e {
  a = f32[4] parameter(0)
  z = f32[] parameter(1)
  ROOT s = f32[] reduce(a, z), dimensions={0}, to_apply=add
})",
                     "calls"),
              HasSubstr("computation inner: embedded\n"));
}

TEST(Calls, BothWaysAreAnError) {
  const std::string error = DumpOf(R"(HloModule m, is_scheduled=true
add {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT sum = f32[] add(l, r)
}
ENTRY e {
  a = f32[4] parameter(0)
  z = f32[] parameter(1)
  s = f32[] reduce(a, z), dimensions={0}, to_apply=add
  ROOT t = f32[] call(s, z), to_apply=add
})",
                                   "calls");
  EXPECT_THAT(error, HasSubstr("computation add is called both as control flow and inside"));
}

TEST(Flatten, ConditionsStandBeforeBodies) {
  const Program program = AnalyzeProgram(kLoop);
  std::vector<std::string> names;
  for (const hlo::InstrId id : program.analysis.schedule.sequence)
    names.emplace_back(program.module.name(id));
  EXPECT_THAT(names, ElementsAre("a", "c", "zero", "init", "cp", "ci", "ten", "lt", "bp", "bi",
                                 "ba", "bc", "one", "bn", "bs", "bt", "w", "out"));
  const Schedule& schedule = program.analysis.schedule;
  EXPECT_EQ(schedule.end(), 18);
  EXPECT_EQ(schedule.time(program.Find("w")), 16);
  const Schedule::Span cond = schedule.spans[program.FindComputation("cond").index];
  EXPECT_EQ(cond.start, 4);
  EXPECT_EQ(cond.end, 8);
  const Schedule::Span body = schedule.spans[program.FindComputation("body").index];
  EXPECT_EQ(body.start, 8);
  EXPECT_EQ(body.end, 16);
}

TEST(Flatten, WhatIsCalledTwiceStandsAtItsFirstCall) {
  EXPECT_EQ(DumpOf(kNest, "schedule"),
            "0: a of e\n"
            "1: ok of e\n"
            "2: f of e\n"
            "3: yp of yes\n"
            "4: kp of called\n"
            "5: kn of called\n"
            "6: yc of yes\n"
            "7: np of no\n"
            "8: nc of no\n"
            "9: c of e\n"
            "10: b of e\n"
            "11: z of e\n");
}

constexpr std::string_view kAsync = R"(HloModule async, is_scheduled=true
wrapped {
  wp = f32[4] parameter(0)
  ROOT wn = f32[4] negate(wp)
}
ENTRY e {
  a = f32[4] parameter(0)
  start = ((f32[4]), f32[4], u32[]) async-start(a), calls=wrapped
  b = f32[4] sine(a)
  done = f32[4] async-done(start)
  ROOT s = f32[4] add(b, done)
}
)";

TEST(Flatten, AsyncComputationsStandBeforeTheirStart) {
  const Program program = AnalyzeProgram(kAsync);
  EXPECT_EQ(program.Dump("schedule"),
            "0: a of e\n"
            "1: wp of wrapped\n"
            "2: wn of wrapped\n"
            "3: start of e\n"
            "4: b of e\n"
            "5: done of e\n"
            "6: s of e\n");
  const Schedule::Async& async =
      program.analysis.schedule.asyncs[program.FindComputation("wrapped").index];
  EXPECT_EQ(async.start, program.Find("start"));
  EXPECT_EQ(async.done, program.Find("done"));
}

TEST(Flatten, ProgramsWithoutAnOrderAreRefused) {
  const std::string error = DumpOf("ENTRY e {\n  ROOT a = f32[4] parameter(0)\n}", "schedule");
  EXPECT_THAT(error, HasSubstr("computation e has no schedule"));
  EXPECT_THAT(error, HasSubstr("is_scheduled=true"));
}

std::vector<std::string> MadeOrder(std::string_view text, Scheduler scheduler) {
  const hlo::Module module = WithSchedule(ParseProgram(text), scheduler, *FindTarget("cpu"));
  EXPECT_EQ(Render(hlo::Verify(module)), "");
  EXPECT_TRUE(IsScheduled(module));
  std::vector<std::string> names;
  for (const hlo::InstrId id : module.schedule_of(module.entry))
    names.emplace_back(module.name(id));
  return names;
}

// Two long rows of work, each of which can be finished before the other begins.
constexpr std::string_view kTwoRows = R"(HloModule rows
ENTRY e {
  p = f32[8] parameter(0)
  big1 = f32[1024] broadcast(p), dimensions={}
  big2 = f32[1024] custom-call(p), custom_call_target="make"
  small1 = f32[8] custom-call(big1), custom_call_target="shrink"
  small2 = f32[8] custom-call(big2), custom_call_target="shrink"
  ROOT s = f32[8] add(small1, small2)
}
)";

TEST(MakeSchedule, FindsNamesAgain) {
  for (const Scheduler scheduler : kSchedulers)
    EXPECT_EQ(FindScheduler(Name(scheduler)), scheduler);
  EXPECT_FALSE(FindScheduler("none").has_value());
  EXPECT_FALSE(IsScheduled(ParseProgram(kTwoRows)));
}

TEST(MakeSchedule, RowsAreFinishedOneByOne) {
  for (const Scheduler scheduler : kSchedulers) {
    const std::vector<std::string> names = MadeOrder(kTwoRows, scheduler);
    ASSERT_EQ(names.size(), 6U);
    const auto at = [&](std::string_view name) {
      return std::ranges::find(names, name) - names.begin();
    };
    EXPECT_EQ(at("small1"), at("big1") + 1) << Name(scheduler);
    EXPECT_EQ(at("small2"), at("big2") + 1) << Name(scheduler);
  }
}

TEST(MakeSchedule, ControlPredecessorsAreObeyed) {
  for (const Scheduler scheduler : kSchedulers) {
    EXPECT_THAT(MadeOrder(R"(ENTRY e {
  p = f32[8] parameter(0)
  c = f32[8] tan(p)
  b = f32[8] cosine(p), control-predecessors={c}
  a = f32[8] sine(p), control-predecessors={b}
  ROOT t = (f32[8], f32[8], f32[8]) tuple(a, b, c)
})",
                          scheduler),
                ElementsAre("p", "c", "b", "a", "t"))
        << Name(scheduler);
  }
}

}  // namespace
}  // namespace stowplan
