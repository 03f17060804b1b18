// SPDX-License-Identifier: Apache-2.0
// Loops that hand on less: what is recognised, what is left alone, and that the results are those
// of the given program.
#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fit/loop_pairs.h"
#include "fit/loop_points.h"
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

}  // namespace
}  // namespace stowplan
