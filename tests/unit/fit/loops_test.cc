// SPDX-License-Identifier: Apache-2.0
// Loops that hand on less: what is recognised, what is left alone, and that the results are those
// of the given program.
#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fit/loop_pairs.h"
#include "fit/loop_points.h"
#include "fit/split_updates.h"
#include "hlo/verify.h"
#include "session/fit.h"
#include "unit/fit/unrolled_meaning.h"

namespace stowplan {
namespace {

hlo::Module ReadLoops(std::string_view text) {
  Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", text));
  EXPECT_TRUE(module) << Render(module.error());
  return *std::move(module);
}

void Replace(std::string& text, std::string_view old, std::string_view by) {
  const size_t at = text.find(old);
  ASSERT_NE(at, std::string::npos) << old;
  text.replace(at, old.size(), by);
}

// x' = sin(y), y = cos(...(x * w[i])); x and y are stacked. Backward: g' = g * y + x.
std::string Loops() {
  return R"(HloModule m, is_scheduled=true

forward {
  p = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[1000]{0} get-tuple-element(p), index=1
  xs = f32[4,1000]{1,0} get-tuple-element(p), index=2
  ys = f32[4,1000]{1,0} get-tuple-element(p), index=3
  w = f32[4,1000]{1,0} get-tuple-element(p), index=4
  zero = s32[] constant(0)
  one = s32[] constant(1)
  slice = f32[1,1000]{1,0} dynamic-slice(w, i, zero), dynamic_slice_sizes={1,1000}
  wi = f32[1000]{0} bitcast(slice)
  m = f32[1000]{0} multiply(x, wi)
  m1 = f32[1000]{0} tanh(m)
  m2 = f32[1000]{0} exponential(m1)
  m3 = f32[1000]{0} tanh(m2)
  m4 = f32[1000]{0} tanh(m3)
  m5 = f32[1000]{0} tanh(m4)
  y = f32[1000]{0} cosine(m5)
  x1 = f32[1,1000]{1,0} bitcast(x)
  xs1 = f32[4,1000]{1,0} dynamic-update-slice(xs, x1, i, zero)
  y1 = f32[1,1000]{1,0} bitcast(y)
  ys1 = f32[4,1000]{1,0} dynamic-update-slice(ys, y1, i, zero)
  next = f32[1000]{0} sine(y)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) tuple(j, next, xs1, ys1, w)
}

more {
  p.1 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) parameter(0)
  i.1 = s32[] get-tuple-element(p.1), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i.1, n), direction=LT
}

backward {
  p.2 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) parameter(0)
  i.2 = s32[] get-tuple-element(p.2), index=0
  g = f32[1000]{0} get-tuple-element(p.2), index=1
  xs.2 = f32[4,1000]{1,0} get-tuple-element(p.2), index=2
  ys.2 = f32[4,1000]{1,0} get-tuple-element(p.2), index=3
  zero.2 = s32[] constant(0)
  one.2 = s32[] constant(1)
  three = s32[] constant(3)
  at = s32[] subtract(three, i.2)
  sx = f32[1,1000]{1,0} dynamic-slice(xs.2, at, zero.2), dynamic_slice_sizes={1,1000}
  x.2 = f32[1000]{0} bitcast(sx)
  sy = f32[1,1000]{1,0} dynamic-slice(ys.2, at, zero.2), dynamic_slice_sizes={1,1000}
  y.2 = f32[1000]{0} bitcast(sy)
  a = f32[1000]{0} multiply(g, y.2)
  b = f32[1000]{0} add(a, x.2)
  j.2 = s32[] add(i.2, one.2)
  ROOT t.2 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) tuple(j.2, b, xs.2, ys.2)
}

more.2 {
  p.3 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) parameter(0)
  i.3 = s32[] get-tuple-element(p.3), index=0
  n.3 = s32[] constant(4)
  ROOT c.3 = pred[] compare(i.3, n.3), direction=LT
}

ENTRY e {
  start = f32[1000]{0} parameter(0)
  weights = f32[4,1000]{1,0} parameter(1)
  count = s32[] parameter(2)
  nothing = s32[] constant(0)
  nil = f32[] constant(0)
  first = s32[] copy(nothing)
  begin = f32[1000]{0} copy(start)
  xs0 = f32[4,1000]{1,0} broadcast(nil), dimensions={}
  ys0 = f32[4,1000]{1,0} broadcast(nil), dimensions={}
  in = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) tuple(first, begin, xs0, ys0, weights)
  loop = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) while(in), condition=more, body=forward
  last = f32[1000]{0} get-tuple-element(loop), index=1
  sxs = f32[4,1000]{1,0} get-tuple-element(loop), index=2
  sys = f32[4,1000]{1,0} get-tuple-element(loop), index=3
  first.2 = s32[] copy(nothing)
  in.2 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) tuple(first.2, last, sxs, sys)
  loop.2 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}, f32[4,1000]{1,0}) while(in.2), condition=more.2, body=backward
  ROOT result = f32[1000]{0} get-tuple-element(loop.2), index=1
}
)";
}

bool IsSame(const hlo::Module& a, const hlo::Module& b) {
  Expressions expressions;
  return UnrolledMeaning(a, expressions).Find() == UnrolledMeaning(b, expressions).Find();
}

Fitted FitLoops(const std::string& text, FitOptions options = {}) {
  options.plan.target = "cpu";
  options.plan.policy = Policy::kBest;
  PlannedModule planned;
  planned.name = "m";
  planned.module = std::make_shared<const hlo::Module>(ReadLoops(text));
  Result<Fitted> fitted = Fit(planned, options);
  EXPECT_TRUE(fitted) << Render(fitted.error());
  EXPECT_EQ(fitted->planned.verdict.soundness, Soundness::kSound);
  EXPECT_TRUE(hlo::Verify(*fitted->planned.module).empty());
  EXPECT_TRUE(IsSame(*fitted->planned.module, *planned.module));
  EXPECT_LE(fitted->facts.bytes, fitted->facts.given_bytes);
  EXPECT_LE(fitted->facts.bound, fitted->facts.bytes);
  EXPECT_TRUE(std::ranges::is_sorted(fitted->facts.curve, {}, &FitPoint::cost));
  return *std::move(fitted);
}

size_t CountStacks(const std::string& text) {
  size_t count = 0;
  for (const fit::LoopPair& pair : fit::FindLoopPairs(ReadLoops(text))) count += pair.stacks.size();
  return count;
}

TEST(Loops, MeaningsDiffer) {
  const hlo::Module module = ReadLoops(Loops());
  EXPECT_TRUE(IsSame(module, module));
  for (const auto& [old, by] :
       {std::pair("cosine(m5)", "sine(m5)"), std::pair("constant(3)", "constant(2)"),
        std::pair("multiply(x, wi)", "multiply(x, x)")}) {
    std::string other = Loops();
    Replace(other, old, by);
    EXPECT_FALSE(IsSame(module, ReadLoops(other))) << by;
  }
}

TEST(Loops, AreRecognised) {
  const hlo::Module module = ReadLoops(Loops());
  const std::vector<fit::LoopPair> pairs = fit::FindLoopPairs(module);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].trips, (std::vector<int64_t>{3, 2, 1, 0}));
  ASSERT_EQ(pairs[0].stacks.size(), 2U);
  EXPECT_EQ(pairs[0].stacks[1].written, 3);
  EXPECT_EQ(pairs[0].stacks[1].read, 3);
  EXPECT_EQ(module.name(pairs[0].stacks[1].slices[0].id), "sy");
}

// y is computed again from x, which must stay: it is carried. The weights go into the second loop.
TEST(Loops, HandOnLess) {
  const Fitted fitted = FitLoops(Loops());
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 16'000 + 4'000);
  EXPECT_GT(fitted.facts.cost, 0);
  EXPECT_EQ(fitted.facts.repeats.size(), 8U);  // slice, m to m5, y
  EXPECT_EQ(fitted.facts.repeats[0].times, 4);
  EXPECT_EQ(CountStacks(Loops()), 2U);
}

TEST(Loops, CostIsLimited) {
  const Fitted fitted = FitLoops(Loops(), {.max_cost = 0});
  EXPECT_EQ(fitted.facts.cost, 0);
  EXPECT_TRUE(fitted.facts.repeats.empty());
}

// One change each after which `ys` is not a stack.
TEST(Loops, OthersAreLeftAlone) {
  const std::pair<std::string_view, std::string_view> changes[] = {
      // read by the forward loop
      {"m = f32[1000]{0} multiply(x, wi)",
       "s = f32[1,1000]{1,0} dynamic-slice(ys, i, zero), dynamic_slice_sizes={1,1000}\n"
       "  s1 = f32[1000]{0} bitcast(s)\n  m = f32[1000]{0} multiply(x, s1)"},
      // written twice
      {"ys1 = f32[4,1000]{1,0} dynamic-update-slice(ys, y1, i, zero)",
       "ys0.1 = f32[4,1000]{1,0} dynamic-update-slice(ys, y1, i, zero)\n"
       "  ys1 = f32[4,1000]{1,0} dynamic-update-slice(ys0.1, y1, i, zero)"},
      // written at one place
      {"dynamic-update-slice(ys, y1, i, zero)", "dynamic-update-slice(ys, y1, zero, zero)"},
      // written elsewhere than in rows
      {"dynamic-update-slice(ys, y1, i, zero)", "dynamic-update-slice(ys, y1, i, i)"},
      // read at an index that depends on data
      {"sy = f32[1,1000]{1,0} dynamic-slice(ys.2, at, zero.2)",
       "f = f32[1]{0} slice(g), slice={[0:1]}\n  f0 = f32[] bitcast(f)\n"
       "  f1 = s32[] convert(f0)\n"
       "  sy = f32[1,1000]{1,0} dynamic-slice(ys.2, f1, zero.2)"},
      // read at another trip's index than `xs`
      {"dynamic-slice(ys.2, at, zero.2)", "dynamic-slice(ys.2, i.2, zero.2)"},
      // changed by the backward loop
      {"tuple(j.2, b, xs.2, ys.2)", "tuple(j.2, b, xs.2, xs.2)"},
      // read as a whole
      {"a = f32[1000]{0} multiply(g, y.2)",
       "all = f32[4,1000]{1,0} negate(ys.2)\n"
       "  one.3 = f32[1,1000]{1,0} slice(all), slice={[0:1], [0:1000]}\n"
       "  flat = f32[1000]{0} bitcast(one.3)\n  a = f32[1000]{0} multiply(flat, y.2)"},
      // returned
      {"ROOT result = f32[1000]{0} get-tuple-element(loop.2), index=1",
       "result = f32[1000]{0} get-tuple-element(loop.2), index=1\n"
       "  kept = f32[4,1000]{1,0} copy(sys)\n"
       "  ROOT both = (f32[1000]{0}, f32[4,1000]{1,0}) tuple(result, kept)"},
      // returned by the backward loop
      {"ROOT result = f32[1000]{0} get-tuple-element(loop.2), index=1",
       "result = f32[1000]{0} get-tuple-element(loop.2), index=1\n"
       "  kept = f32[4,1000]{1,0} get-tuple-element(loop.2), index=3\n"
       "  ROOT both = (f32[1000]{0}, f32[4,1000]{1,0}) tuple(result, kept)"},
      // read between the loops
      {"first.2 = s32[] copy(nothing)",
       "between = f32[4,1000]{1,0} negate(sys)\n  first.2 = s32[] copy(nothing)"},
      // handed to the backward loop twice
      {"tuple(first.2, last, sxs, sys)", "tuple(first.2, last, sys, sys)"},
  };
  for (const auto& [old, by] : changes) {
    std::string text = Loops();
    Replace(text, old, by);
    for (const fit::LoopPair& pair : fit::FindLoopPairs(ReadLoops(text))) {
      for (const fit::Stack& stack : pair.stacks) EXPECT_NE(stack.written, 3) << by;
    }
  }
}

// All of the loops: how often they run is not known, or XLA says otherwise.
TEST(Loops, TripsMustBeKnown) {
  for (const auto& [old, by] :
       {std::pair("first = s32[] copy(nothing)", "first = s32[] copy(count)"),
        std::pair("first.2 = s32[] copy(nothing)", "first.2 = s32[] copy(count)"),
        std::pair("n = s32[] constant(4)", "n = s32[] constant(5)"),
        std::pair("n.3 = s32[] constant(4)", "n.3 = s32[] constant(5)"),
        std::pair("j = s32[] add(i, one)", "j = s32[] multiply(i, one)"),
        std::pair("body=forward",
                  "body=forward, backend_config={\"known_trip_count\":{\"n\":\"5\"}}")}) {
    std::string text = Loops();
    Replace(text, old, by);
    EXPECT_EQ(CountStacks(text), 0U) << by;
  }
  std::string text = Loops();
  Replace(text, "body=forward",
          "body=forward, backend_config={\"known_trip_count\":{\"n\":\"4\"}}");
  EXPECT_EQ(CountStacks(text), 2U);
}

// What has an effect, or may compute something else next time, is not computed again.
TEST(Loops, EffectsAreNotRepeated) {
  for (const std::string_view how :
       {"custom-call(m5), custom_call_target=\"unknown\"",
        "custom-call(m5), custom_call_target=\"__onednn$x\", custom_call_has_side_effect=true"}) {
    std::string text = Loops();
    Replace(text, "cosine(m5)", how);
    EXPECT_EQ(CountStacks(text), 2U);
    const Fitted fitted = FitLoops(text);
    EXPECT_TRUE(fitted.facts.repeats.empty()) << how;
  }
}

// The trips of both loops run in the same order.
TEST(Loops, MayRunForward) {
  std::string text = Loops();
  Replace(text, "subtract(three, i.2)", "copy(i.2)");
  const std::vector<fit::LoopPair> pairs = fit::FindLoopPairs(ReadLoops(text));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].trips, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_FALSE(FitLoops(text).facts.repeats.empty());
}

// Both loops lose `ys`, and the second one gets the weights.
TEST(Loops, TuplesChange) {
  const Fitted fitted = FitLoops(Loops());
  const hlo::Module& module = *fitted.planned.module;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.instructions[hlo::InstrId(i)].opcode != hlo::Opcode::kWhile) continue;
    EXPECT_EQ(module.shapes.elements(module.instructions[hlo::InstrId(i)].shape).size(), 4U);
  }
}

// Both stacks follow from `x`, which is not stacked; it becomes so.
TEST(Loops, WhatIsCarriedIsStacked) {
  std::string text = Loops();
  Replace(text, "x1 = f32[1,1000]{1,0} bitcast(x)",
          "u = f32[1000]{0} exponential(x)\n  x1 = f32[1,1000]{1,0} bitcast(u)");
  EXPECT_EQ(CountStacks(text), 2U);
  const Fitted fitted = FitLoops(text);
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 16'000 + 4'000);
  EXPECT_FALSE(fitted.facts.repeats.empty());
  const hlo::Module& module = *fitted.planned.module;
  EXPECT_TRUE(std::ranges::any_of(module.instructions.rows(), [&](const hlo::Instruction& row) {
    return module.view(row.name) == "xs1.remat" || module.view(row.name) == "ys1.remat";
  }));
}

// Updates and slices in fusions, as back ends make them; one of each is asynchronous, as on GPUs.
TEST(Loops, FusionsAreTakenApart) {
  std::string text = Loops();
  Replace(text, "forward {\n", R"(write {
  q0 = f32[4,1000]{1,0} parameter(0)
  q1 = f32[1000]{0} parameter(1)
  q2 = s32[] parameter(2)
  q3 = f32[1000]{0} tanh(q1)
  q4 = f32[1000]{0} cosine(q3)
  q5 = f32[1,1000]{1,0} bitcast(q4)
  q6 = s32[] constant(0)
  ROOT q7 = f32[4,1000]{1,0} dynamic-update-slice(q0, q5, q2, q6)
}

later {
  r0 = f32[4,1000]{1,0} parameter(0)
  r1 = f32[1000]{0} parameter(1)
  r2 = s32[] parameter(2)
  ROOT r3 = f32[4,1000]{1,0} fusion(r0, r1, r2), kind=kLoop, calls=write
}

read {
  s0 = f32[1000]{0} parameter(0)
  s1 = f32[4,1000]{1,0} parameter(1)
  s2 = s32[] parameter(2)
  s3 = s32[] constant(3)
  s4 = s32[] subtract(s3, s2)
  s5 = s32[] constant(0)
  s6 = f32[1,1000]{1,0} dynamic-slice(s1, s4, s5), dynamic_slice_sizes={1,1000}
  s7 = f32[1000]{0} bitcast(s6)
  ROOT s8 = f32[1000]{0} multiply(s0, s7)
}

only {
  t0 = f32[4,1000]{1,0} parameter(0)
  t1 = s32[] parameter(1)
  t2 = s32[] constant(3)
  t3 = s32[] subtract(t2, t1)
  t4 = s32[] constant(0)
  t5 = f32[1,1000]{1,0} dynamic-slice(t0, t3, t4), dynamic_slice_sizes={1,1000}
  ROOT t6 = f32[1000]{0} bitcast(t5)
}

forward {
)");
  Replace(text, "ys1 = f32[4,1000]{1,0} dynamic-update-slice(ys, y1, i, zero)",
          "go = ((f32[4,1000]{1,0}, f32[1000]{0}, s32[]), f32[4,1000]{1,0}, u32[]) "
          "async-start(ys, m4, i), calls=later\n"
          "  ys1 = f32[4,1000]{1,0} async-done(go)");
  Replace(text, "at = s32[] subtract(three, i.2)\n", "");
  Replace(text,
          "sx = f32[1,1000]{1,0} dynamic-slice(xs.2, at, zero.2), "
          "dynamic_slice_sizes={1,1000}\n",
          "");
  Replace(text, "x.2 = f32[1000]{0} bitcast(sx)",
          "x.2 = f32[1000]{0} fusion(xs.2, i.2), kind=kLoop, calls=only");
  Replace(text,
          "sy = f32[1,1000]{1,0} dynamic-slice(ys.2, at, zero.2), "
          "dynamic_slice_sizes={1,1000}\n",
          "");
  Replace(text, "y.2 = f32[1000]{0} bitcast(sy)\n", "");
  Replace(text, "a = f32[1000]{0} multiply(g, y.2)",
          "a = f32[1000]{0} fusion(g, ys.2, i.2), kind=kLoop, calls=read");
  EXPECT_EQ(CountStacks(text), 2U);
  const hlo::Module module = ReadLoops(text);
  const std::vector<fit::LoopPoint> points = fit::FindLoopPoints(module, *FindTarget("cpu"));
  ASSERT_FALSE(points.empty());
  for (const fit::LoopPoint& point : points) {
    EXPECT_TRUE(hlo::Verify(*point.module).empty());
    EXPECT_TRUE(IsSame(*point.module, module));
  }
  const Fitted fitted = FitLoops(text);
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 16'000 + 4'000);
}

// A pair of loops in a loop.
TEST(Loops, MayBeNested) {
  std::string text = Loops();
  Replace(text,
          "ENTRY e {\n  start = f32[1000]{0} parameter(0)\n"
          "  weights = f32[4,1000]{1,0} parameter(1)\n  count = s32[] parameter(2)\n",
          "outer {\n  p.4 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}) parameter(0)\n"
          "  step = s32[] get-tuple-element(p.4), index=0\n"
          "  start = f32[1000]{0} get-tuple-element(p.4), index=1\n"
          "  weights = f32[4,1000]{1,0} get-tuple-element(p.4), index=2\n"
          "  one.4 = s32[] constant(1)\n");
  Replace(text, "ROOT result = f32[1000]{0} get-tuple-element(loop.2), index=1\n}\n",
          R"(result = f32[1000]{0} get-tuple-element(loop.2), index=1
  step.1 = s32[] add(step, one.4)
  ROOT t.4 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}) tuple(step.1, result, weights)
}

more.4 {
  p.5 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}) parameter(0)
  i.5 = s32[] get-tuple-element(p.5), index=0
  n.5 = s32[] constant(3)
  ROOT c.5 = pred[] compare(i.5, n.5), direction=LT
}

ENTRY e {
  start.1 = f32[1000]{0} parameter(0)
  weights.1 = f32[4,1000]{1,0} parameter(1)
  nothing.1 = s32[] constant(0)
  first.4 = s32[] copy(nothing.1)
  begin.4 = f32[1000]{0} copy(start.1)
  in.4 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}) tuple(first.4, begin.4, weights.1)
  loop.4 = (s32[], f32[1000]{0}, f32[4,1000]{1,0}) while(in.4), condition=more.4, body=outer
  ROOT result.4 = f32[1000]{0} get-tuple-element(loop.4), index=1
}
)");
  EXPECT_EQ(CountStacks(text), 2U);
  const Fitted fitted = FitLoops(text);
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 16'000 + 4'000);
}

// One fusion makes the first values of all stacks, and then only of those that are left.
TEST(Loops, FusionsYieldWhatIsRead) {
  std::string text = Loops();
  Replace(text, "forward {\n", R"(fill {
  q0 = f32[] parameter(0)
  q1 = f32[4,1000]{1,0} broadcast(q0), dimensions={}
  q2 = f32[4,1000]{1,0} broadcast(q0), dimensions={}
  ROOT q3 = (f32[4,1000]{1,0}, f32[4,1000]{1,0}) tuple(q1, q2)
}

forward {
)");
  Replace(text, "xs0 = f32[4,1000]{1,0} broadcast(nil), dimensions={}",
          "both0 = (f32[4,1000]{1,0}, f32[4,1000]{1,0}) fusion(nil), kind=kLoop, calls=fill\n"
          "  xs0 = f32[4,1000]{1,0} get-tuple-element(both0), index=0");
  Replace(text, "ys0 = f32[4,1000]{1,0} broadcast(nil), dimensions={}",
          "ys0 = f32[4,1000]{1,0} get-tuple-element(both0), index=1");
  EXPECT_EQ(CountStacks(text), 2U);
  const Fitted fitted = FitLoops(text);
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 16'000 + 4'000);
  const hlo::Module& module = *fitted.planned.module;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.name(hlo::InstrId(i)) != "both0") continue;
    EXPECT_FALSE(module.shapes.is_tuple(module.instructions[hlo::InstrId(i)].shape));
  }
}

// One fusion updates both stacks and computes what goes on; each update is left out by itself.
TEST(Loops, UpdatesAreTakenApart) {
  std::string text = Loops();
  Replace(text, "forward {\n", R"(write {
  q0 = f32[4,1000]{1,0} parameter(0)
  q1 = f32[4,1000]{1,0} parameter(1)
  q2 = f32[1000]{0} parameter(2)
  q3 = f32[1000]{0} parameter(3)
  q4 = s32[] parameter(4)
  q5 = s32[] constant(0)
  q6 = f32[1,1000]{1,0} bitcast(q2)
  q7 = f32[4,1000]{1,0} dynamic-update-slice(q0, q6, q4, q5)
  q8 = f32[1000]{0} cosine(q3)
  q9 = f32[1,1000]{1,0} bitcast(q8)
  qa = f32[4,1000]{1,0} dynamic-update-slice(q1, q9, q4, q5)
  qb = f32[1000]{0} sine(q8)
  ROOT qc = (f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[1000]{0}) tuple(q7, qa, qb)
}

forward {
)");
  for (const std::string_view line :
       {"  y = f32[1000]{0} cosine(m5)\n", "  x1 = f32[1,1000]{1,0} bitcast(x)\n",
        "  y1 = f32[1,1000]{1,0} bitcast(y)\n"})
    Replace(text, line, "");
  Replace(text, "xs1 = f32[4,1000]{1,0} dynamic-update-slice(xs, x1, i, zero)",
          "all = (f32[4,1000]{1,0}, f32[4,1000]{1,0}, f32[1000]{0}) fusion(xs, ys, x, m5, i), "
          "kind=kLoop, calls=write\n"
          "  xs1 = f32[4,1000]{1,0} get-tuple-element(all), index=0");
  Replace(text, "ys1 = f32[4,1000]{1,0} dynamic-update-slice(ys, y1, i, zero)",
          "ys1 = f32[4,1000]{1,0} get-tuple-element(all), index=1");
  Replace(text, "next = f32[1000]{0} sine(y)",
          "next = f32[1000]{0} get-tuple-element(all), index=2");
  EXPECT_EQ(CountStacks(text), 0U);
  const hlo::Module module = ReadLoops(text);
  const std::optional<fit::SplitModule> split = fit::SplitUpdates(module);
  ASSERT_TRUE(split);
  EXPECT_TRUE(hlo::Verify(split->module).empty());
  EXPECT_TRUE(IsSame(split->module, module));
  const std::vector<fit::LoopPair> pairs = fit::FindLoopPairs(split->module);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].stacks.size(), 2U);
  const Fitted fitted = FitLoops(text);
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 16'000 + 4'000);
  EXPECT_FALSE(fit::SplitUpdates(ReadLoops(Loops())));
}

}  // namespace
}  // namespace stowplan
