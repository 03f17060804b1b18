// SPDX-License-Identifier: Apache-2.0
// Programs that compute the same in another way, and such as look like it.
#include "check/same_results.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "stowplan/base/source.h"
#include "text/parse.h"

namespace stowplan::check {
namespace {

bool AreSame(std::string_view given, std::string_view changed, int64_t most_steps = 100'000) {
  const auto a = ParseText(Source::FromBytes("given", std::string(given)));
  const auto b = ParseText(Source::FromBytes("changed", std::string(changed)));
  if (!a || !b) {
    ADD_FAILURE() << Render(a ? b.error() : a.error());
    return false;
  }
  return SameResults(*a, most_steps).AreThoseOf(*b);
}

std::string Entry(std::string_view body) {
  return "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n" +
         std::string(body) + "}\n";
}

TEST(SameResults, ValuesMayBeComputedTwice) {
  const std::string given = Entry(
      "  a = f32[4] exponential(x)\n  b = f32[4] add(a, y)\n  ROOT t = (f32[4], f32[4]) tuple(a, "
      "b)\n");
  EXPECT_TRUE(AreSame(given, given));
  EXPECT_TRUE(AreSame(given, Entry("  a = f32[4] exponential(x)\n  c = f32[4] copy(x)\n"
                                   "  a2 = f32[4] exponential(c)\n  b = f32[4] add(a2, y)\n"
                                   "  ROOT t = (f32[4], f32[4]) tuple(a, b)\n")));
  // Another operand, another operation, another order of operands or results.
  EXPECT_FALSE(AreSame(given, Entry("  a = f32[4] exponential(x)\n  a2 = f32[4] exponential(y)\n"
                                    "  b = f32[4] add(a2, y)\n"
                                    "  ROOT t = (f32[4], f32[4]) tuple(a, b)\n")));
  EXPECT_FALSE(AreSame(given, Entry("  a = f32[4] exponential(x)\n  a2 = f32[4] tanh(x)\n"
                                    "  b = f32[4] add(a2, y)\n"
                                    "  ROOT t = (f32[4], f32[4]) tuple(a, b)\n")));
  EXPECT_FALSE(AreSame(given, Entry("  a = f32[4] exponential(x)\n  b = f32[4] add(y, a)\n"
                                    "  ROOT t = (f32[4], f32[4]) tuple(a, b)\n")));
  EXPECT_FALSE(AreSame(given, Entry("  a = f32[4] exponential(x)\n  b = f32[4] add(a, y)\n"
                                    "  ROOT t = (f32[4], f32[4]) tuple(b, a)\n")));
}

TEST(SameResults, AttributesCount) {
  const auto compare = [](std::string_view direction) {
    return Entry("  ROOT c = pred[4] compare(x, y), direction=" + std::string(direction) + "\n");
  };
  EXPECT_TRUE(AreSame(compare("LT"), compare("LT")));
  EXPECT_FALSE(AreSame(compare("LT"), compare("GT")));
}

TEST(SameResults, EffectsStayAsMany) {
  const auto draw = [](std::string_view body) {
    return "HloModule m\n\nENTRY e {\n  l = f32[] constant(0)\n  h = f32[] constant(1)\n" +
           std::string(body) + "}\n";
  };
  const std::string given =
      draw("  r = f32[4] rng(l, h), distribution=rng_uniform\n  ROOT s = f32[4] add(r, r)\n");
  EXPECT_TRUE(AreSame(given, given));
  EXPECT_FALSE(AreSame(given, draw("  r = f32[4] rng(l, h), distribution=rng_uniform\n"
                                   "  r2 = f32[4] rng(l, h), distribution=rng_uniform\n"
                                   "  ROOT s = f32[4] add(r, r2)\n")));
}

// A loop that stacks exp(x + i) and one that adds the slices up, last first; `again`: the second
// computes them itself.
std::string Stacked(bool stacks, std::string_view again, std::string_view start = "4") {
  const std::string type = "(s32[], f32[4]{0}, f32[5,4]{1,0})";
  std::string text = "HloModule m\n\n";
  text += "one {\n  p = " + type + " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n";
  text += "  x = f32[4]{0} get-tuple-element(p), index=1\n";
  text += "  s = f32[5,4]{1,0} get-tuple-element(p), index=2\n  k1 = s32[] constant(1)\n";
  text += "  n = s32[] add(i, k1)\n  f = f32[] convert(i)\n";
  text += "  b = f32[4]{0} broadcast(f), dimensions={}\n  a = f32[4]{0} add(x, b)\n";
  text += "  v = f32[4]{0} exponential(a)\n  w = f32[1,4]{1,0} bitcast(v)\n";
  text += "  z = s32[] constant(0)\n";
  if (stacks) text += "  u = f32[5,4]{1,0} dynamic-update-slice(s, w, i, z)\n";
  text += "  ROOT t = " + type + " tuple(n, x, " + (stacks ? "u" : "s") + ")\n}\n\n";
  text += "up {\n  p = " + type + " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n";
  text += "  k5 = s32[] constant(5)\n  ROOT c = pred[] compare(i, k5), direction=LT\n}\n\n";
  const std::string two = "(s32[], f32[4]{0}, f32[5,4]{1,0}, f32[4]{0})";
  text += "two {\n  p = " + two + " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n";
  text += "  q = f32[4]{0} get-tuple-element(p), index=1\n";
  text += "  s = f32[5,4]{1,0} get-tuple-element(p), index=2\n";
  text += "  x = f32[4]{0} get-tuple-element(p), index=3\n  k1 = s32[] constant(1)\n";
  text += "  n = s32[] subtract(i, k1)\n  z = s32[] constant(0)\n";
  text += again.empty() ? "  r = f32[1,4]{1,0} dynamic-slice(s, i, z), dynamic_slice_sizes={1,4}\n"
                          "  v = f32[4]{0} bitcast(r)\n"
                        : std::string(again);
  text += "  d = f32[4]{0} add(q, v)\n  ROOT t = " + two + " tuple(n, d, s, x)\n}\n\n";
  text += "down {\n  p = " + two + " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n";
  text += "  k0 = s32[] constant(0)\n  ROOT c = pred[] compare(i, k0), direction=GE\n}\n\n";
  text += "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  i0 = s32[] constant(0)\n";
  text += "  f0 = f32[] constant(0)\n  s0 = f32[5,4]{1,0} broadcast(f0), dimensions={}\n";
  text += "  q0 = f32[4]{0} broadcast(f0), dimensions={}\n";
  text +=
      "  a = " + type + " tuple(i0, x, s0)\n  w1 = " + type + " while(a), condition=up, body=one\n";
  text += "  s = f32[5,4]{1,0} get-tuple-element(w1), index=2\n  i4 = s32[] constant(" +
          std::string(start) + ")\n";
  text += "  b = " + two + " tuple(i4, q0, s, x)\n  w2 = " + two +
          " while(b), condition=down, body=two\n";
  return text + "  ROOT o = f32[4]{0} get-tuple-element(w2), index=1\n}\n";
}
constexpr std::string_view kAgain =
    "  f = f32[] convert(i)\n  b = f32[4]{0} broadcast(f), dimensions={}\n"
    "  a = f32[4]{0} add(x, b)\n  v = f32[4]{0} exponential(a)\n";

TEST(SameResults, LoopsMayHandOnLess) {
  const std::string given = Stacked(true, "");
  EXPECT_TRUE(AreSame(given, given));
  EXPECT_TRUE(AreSame(given, Stacked(false, kAgain)));
  EXPECT_TRUE(AreSame(given, Stacked(true, kAgain)));
  // Nothing is stacked, and nothing computed again.
  EXPECT_FALSE(AreSame(given, Stacked(false, "")));
  // From another trip.
  EXPECT_FALSE(AreSame(given, Stacked(false,
                                      "  f = f32[] convert(n)\n"
                                      "  b = f32[4]{0} broadcast(f), dimensions={}\n"
                                      "  a = f32[4]{0} add(x, b)\n"
                                      "  v = f32[4]{0} exponential(a)\n")));
  // One trip less.
  EXPECT_FALSE(AreSame(given, Stacked(true, "", "3")));
  // A program that is too long is not proved.
  EXPECT_FALSE(AreSame(given, Stacked(false, kAgain), 100));
}

// What overlaps is not looked through.
TEST(SameResults, LaterWritesCount) {
  const auto text = [](std::string_view second, std::string_view rest) {
    return "HloModule m\n\nENTRY e {\n  s = f32[4] parameter(0)\n  u = f32[2] parameter(1)\n"
           "  v = f32[2] parameter(2)\n  i0 = s32[] constant(0)\n  i1 = s32[] constant(1)\n"
           "  i2 = s32[] constant(2)\n  a = f32[4] dynamic-update-slice(s, u, i0)\n"
           "  b = f32[4] dynamic-update-slice(a, v, " +
           std::string(second) + ")\n" + std::string(rest) + "}\n";
  };
  const std::string slice = "  ROOT r = f32[2] dynamic-slice(b, i0), dynamic_slice_sizes={2}\n";
  const std::string written = "  ROOT r = f32[2] copy(u)\n";
  EXPECT_TRUE(AreSame(text("i2", slice), text("i2", written)));   // apart
  EXPECT_FALSE(AreSame(text("i1", slice), text("i1", written)));  // half of it
  EXPECT_FALSE(AreSame(text("i0", slice), text("i0", written)));  // all of it
}

}  // namespace
}  // namespace stowplan::check
