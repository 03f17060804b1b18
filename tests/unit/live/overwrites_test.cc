// SPDX-License-Identifier: Apache-2.0
#include "live/overwrites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/planning.h"

namespace stowplan {
namespace {

std::string OverwritesOf(std::string_view text) {
  const Program program = AnalyzeProgram(text, {});
  const Analysis& analysis = program.analysis;
  return Render(FindOverwrites(program.module, analysis.calls, analysis.schedule, analysis.flow,
                               analysis.buffers));
}

constexpr std::string_view kUpdate = R"(
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[8]{0} parameter(0)
  i = s32[] parameter(1)
  n = f32[8]{0} negate(p)
  u = f32[1]{0} slice(n), slice={[0:1]}
  d = f32[8]{0} dynamic-update-slice(n, u, i)
  ROOT r = f32[8]{0} add(d, )";

TEST(Overwrites, AnOperandThatIsReadAfterItWasWrittenOver) {
  EXPECT_EQ(OverwritesOf(std::string(kUpdate) + "p)\n}\n"), "");
  EXPECT_THAT(OverwritesOf(std::string(kUpdate) + "n)\n}\n"),
              testing::HasSubstr("warning: n must share a place with d, which is written while r "
                                 "still needs it"));
}

TEST(Overwrites, TwoParametersThatChangePlaces) {
  EXPECT_THAT(OverwritesOf(R"(
HloModule m, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias), {1}: (0, {}, may-alias) }

ENTRY e {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} parameter(1)
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(p, q)
}
)"),
              testing::HasSubstr("p must share a place with q"));
}

constexpr std::string_view kLoop = R"(
HloModule m, is_scheduled=true

c {
  pc = (f32[8]{0}, f32[8]{0}) parameter(0)
  ROOT go = pred[] constant(true)
}

b {
  pb = (f32[8]{0}, f32[8]{0}) parameter(0)
  x = f32[8]{0} get-tuple-element(pb), index=0
  y = f32[8]{0} get-tuple-element(pb), index=1
  cx = f32[8]{0} copy(x)
  cy = f32[8]{0} copy(y)
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(ROOTS)
}

ENTRY e {
  p = f32[8]{0} parameter(0)
  n = f32[8]{0} negate(p)
  m = f32[8]{0} tan(p)
  init = (f32[8]{0}, f32[8]{0}) tuple(n, m)
  ROOT w = (f32[8]{0}, f32[8]{0}) while(init), condition=c, body=b
}
)";

std::string Loop(std::string_view roots) {
  std::string text(kLoop);
  return text.replace(text.find("ROOTS"), 5, roots);
}

TEST(Overwrites, ALoopThatSwapsNeedsCopies) {
  EXPECT_THAT(OverwritesOf(Loop("y, x")), testing::HasSubstr("must share a place"));
}

TEST(Overwrites, ALoopThatHandsItsValuesOnIsFine) { EXPECT_EQ(OverwritesOf(Loop("x, y")), ""); }

// A collective that a fusion goes on with: what it hands on it does not write.
TEST(Overwrites, ACollectiveUnderWay) {
  constexpr std::string_view kProgram = R"(
HloModule m, is_scheduled=true

on {
  p = f32[4]{0} parameter(0)
  d = f32[8]{0} parameter(1)
  g = f32[8]{0} all-gather(p), replica_groups={{0,1}}, dimensions={0}
  ROOT t = (f32[4]{0}, f32[8]{0}, f32[8]{0}) tuple(p, d, LAST)
}

ENTRY e {
  q = f32[4]{0} parameter(0)
  v = f32[8]{0} parameter(1)
  w = f32[4]{0} negate(q)
  u = f32[8]{0} negate(v)
  mid = (f32[4]{0}, f32[8]{0}, f32[8]{0}) fusion(w, u), kind=kOutput, output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {}), {2}: (1, {})}, calls=on
  b = f32[8]{0} get-tuple-element(mid), index=1
  n = f32[8]{0} negate(b)
  s = f32[4]{0} negate(w)
  ROOT r = (f32[4]{0}, f32[8]{0}) tuple(s, n)
}
)";
  const auto with = [&](std::string_view last) {
    std::string text(kProgram);
    return text.replace(text.find("LAST"), 4, last);
  };
  EXPECT_EQ(OverwritesOf(with("g")), "");
  std::string other = with("h");
  other.replace(other.find("  ROOT t"), 0, "  h = f32[8]{0} negate(d)\n");
  EXPECT_THAT(OverwritesOf(other), testing::HasSubstr("mid must share a place with mid"));
}

}  // namespace
}  // namespace stowplan
