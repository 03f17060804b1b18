// SPDX-License-Identifier: Apache-2.0
// When values are alive.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/live_ranges.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

using testing::ElementsAre;

std::string RangesOf(std::string_view text, const AnalysisOptions& options = {}) {
  return DumpOf(text, "live-ranges", options);
}

TEST(LiveRanges, FromBirthToTheLastReader) {
  EXPECT_EQ(RangesOf(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[4] parameter(0)
  x = f32[4] negate(a)
  y = f32[4] sine(x)
  z = f32[4] cosine(x)
  unread = f32[4] tan(z)
  ROOT r = f32[4] add(y, z)
})"),
            "<0 a>: 0-6\n"  // not donated: to the end
            "<1 x>: 1-3\n"
            "<2 z>: 3-5\n"
            "<3 unread>: 4-4\n"
            "<4 y>: 2-5\n"
            "<5 r>: 5-6\n");
}

TEST(LiveRanges, DonatedParametersEndWithTheirLastReader) {
  EXPECT_EQ(
      RangesOf(R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  a = f32[4] parameter(0)
  x = f32[4] negate(a)
  y = f32[4] sine(x)
  ROOT r = f32[4] cosine(y)
})"),
      "<0 a>: 0-1\n"
      "<1 x>: 1-2\n"
      "<2 y>: 2-3\n"
      "<3 r>: 3-4\n");
}

TEST(LiveRanges, ADonatedParameterThatIsReadLateHandsOverEarly) {
  // r must lie where a does, and a is still read behind it: a is cut at r's birth, and r lasts.
  EXPECT_EQ(
      RangesOf(R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  a = f32[4] parameter(0)
  r = f32[4] negate(a)
  y = f32[4] sine(a)
  ROOT t = (f32[4], f32[4]) tuple(r, y)
})"),
      "<0 a>: 0-1\n"
      "<1 r>: 1-4\n"
      "<2 y>: 2-4\n"
      "<3 t{}>: 3-4\n");
}

TEST(LiveRanges, ALoopsValuesTakeOverFromEachOther) {
  EXPECT_EQ(RangesOf(kLoop),
            "<0 one>: 12-13\n"
            "<1 bn>: 13-16\n"
            "<2 bs>: 14-16\n"
            "<3 bt{}>: 15-16\n"
            "<4 ten>: 6-7\n"
            "<5 lt>: 7-8\n"
            "<6 zero>: 2-4\n"
            "<7 a>: 0-4\n"
            "<8 c>: 0-18\n"
            "<9 init{}>: 3-4\n"
            "<10 cp{} (phi)>: 4-8\n"
            "<11 bp{} (phi)>: 8-11\n"
            "<12 cp{0} (phi)>: 4-8\n"
            "<13 cp{1} (phi)>: 4-8\n"
            "<15 bp{0} (phi)>: 8-13\n"
            "<16 bp{1} (phi)>: 8-14\n"
            "<18 w{} (phi)>: 16-17\n"
            "<19 w{0} (phi)>: 16-16\n"
            "<20 w{1} (phi)>: 16-18\n");
}

TEST(LiveRanges, CallsDoNotRead) {
  // a is last read inside of f, not by the call behind it.
  EXPECT_EQ(RangesOf(R"(HloModule m, is_scheduled=true
f {
  fp = f32[4] parameter(0)
  fn = f32[4] negate(fp)
  ROOT fs = f32[4] sine(fn)
}
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] tan(p)
  k = f32[4] call(a), to_apply=f
  ROOT s = f32[4] cosine(k)
})"),
            "<0 fn>: 3-4\n"
            "<1 fs>: 4-6\n"
            "<2 p>: 0-7\n"
            "<3 a>: 1-3\n"
            "<4 s>: 6-7\n");
}

constexpr std::string_view kAsync = R"(HloModule async, is_scheduled=true
wrapped {
  wp = f32[4] parameter(0)
  wm = f32[4] sine(wp)
  ROOT wn = f32[4] negate(wm)
}
ENTRY e {
  a = f32[4] parameter(0)
  start = ((f32[4]), f32[4], u32[]) async-start(a), calls=wrapped
  b = f32[4] sine(a)
  done = f32[4] async-done(start)
  c = f32[4] cosine(b)
  ROOT s = f32[4] add(c, done)
}
)";

TEST(LiveRanges, AsyncValuesLastUntilTheDone) {
  const Program program = AnalyzeProgram(kAsync);
  const LiveRanges& live = program.analysis.live;
  EXPECT_EQ(live.of(program.ValueAt("wm")), (LiveRange{2, 6}));
  EXPECT_EQ(live.of(program.ValueAt("wn")), (LiveRange{3, 8}));
  EXPECT_EQ(live.of(program.ValueAt("b")), (LiveRange{5, 7}));
}

TEST(LiveRanges, OnSomeBackEndsAsyncValuesBeginWithTheStart) {
  const Program program = AnalyzeProgram(kAsync, {.async_birth = AsyncBirth::kAtStart});
  const LiveRanges& live = program.analysis.live;
  EXPECT_EQ(live.of(program.ValueAt("wm")), (LiveRange{4, 6}));
  EXPECT_EQ(live.of(program.ValueAt("wn")), (LiveRange{4, 8}));
}

TEST(LiveRanges, AnAsyncStartWithoutADoneLeavesNoRangeBackwards) {
  std::string text(kAsync);
  text.replace(text.find("async-done(start)"), 17, "negate(a)");
  for (const AsyncBirth birth : {AsyncBirth::kOwnTime, AsyncBirth::kAtStart}) {
    const Program program = AnalyzeProgram(text, {.async_birth = birth});
    for (const LiveRange& range : program.analysis.live.ranges) EXPECT_LE(range.start, range.end);
  }
}

TEST(LiveRanges, FusedValuesHaveNone) {
  const Program program = AnalyzeProgram(R"(HloModule m, is_scheduled=true
fused {
  x = f32[8] parameter(0)
  ROOT n = f32[8] negate(x)
}
ENTRY e {
  p = f32[8] parameter(0)
  ROOT f = f32[8] fusion(p), kind=kLoop, calls=fused
})");
  EXPECT_FALSE(program.analysis.live.of(program.ValueAt("x")).exists());
  EXPECT_FALSE(program.analysis.live.of(program.ValueAt("n")).exists());
  EXPECT_EQ(program.analysis.live.of(program.ValueAt("f")), (LiveRange{1, 2}));
}

TEST(Dump, KnowsEveryStage) {
  const Program program = AnalyzeProgram(kLoop);
  EXPECT_THAT(AnalysisStages(),
              ElementsAre("orders", "calls", "schedule", "values", "aliases", "live-ranges"));
  for (const std::string_view stage : AnalysisStages()) EXPECT_NE(program.Dump(stage), "") << stage;
}

}  // namespace
}  // namespace stowplan
