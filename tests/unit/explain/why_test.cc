// SPDX-License-Identifier: Apache-2.0
// Why values of small programs are alive, what padding costs, and how XLA's peak comes about.
#include "explain/why.h"

#include <gmock/gmock.h>

#include "explain/padding.h"
#include "explain/xla_peak.h"
#include "unit/explain/picturing.h"

namespace stowplan::explain::test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kProgram =
    R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }

body {
  bp = (s32[], f32[1024]) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  ba = f32[1024] get-tuple-element(bp), index=1
  one = s32[] constant(1)
  bn = s32[] add(bi, one)
  bs = f32[1024] add(ba, ba)
  ROOT bt = (s32[], f32[1024]) tuple(bn, bs)
}

cond {
  cp = (s32[], f32[1024]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(ci, ten), direction=LT
}

ENTRY e {
  cache = f32[2048] parameter(0)
  x = f32[1024] parameter(1)
  zero = s32[] constant(0)
  early = f32[1024] negate(x)
  i = s32[] copy(zero)
  b = f32[1024] copy(x)
  init = (s32[], f32[1024]) tuple(i, b)
  w = (s32[], f32[1024]) while(init), condition=cond, body=body
  last = f32[1024] get-tuple-element(w), index=1
  sum = f32[1024] add(last, early)
  new = f32[2048] dynamic-update-slice(cache, sum, i2)
  ROOT out = (f32[2048]) tuple(new)
}
)";

std::unique_ptr<Scene> TheScene() {
  std::string text(kProgram);
  text.replace(text.find("  early"), 0, "  i2 = s32[] constant(3)\n");
  return SceneOf(text);
}

Why WhyOf(const Scene& scene, std::string_view name, bool has_analysis = true) {
  return WhyAlive(scene.picture, has_analysis ? &scene.program.analysis : nullptr,
                  scene.Find(name));
}

std::vector<std::string> AliasesOf(const Why& why) {
  std::vector<std::string> texts;
  for (const Alias& alias : why.aliases)
    texts.push_back((alias.value.is_none() ? "" : "=") + alias.where + ": " +
                    std::string(Describe(alias.rule)));
  return texts;
}

TEST(Why, HeldByTheLastUse) {
  const auto scene = TheScene();
  const Why why = WhyOf(*scene, "early");
  ASSERT_EQ(why.uses.size(), 1U);
  EXPECT_EQ(why.uses[0].name, "sum");
  EXPECT_EQ(why.holder, Holder::kLastUse);
  EXPECT_EQ(scene->picture.ops[why.held_by].name, "sum");
  EXPECT_EQ(why.uses[0].time, scene->report.values[why.value].end);
  EXPECT_FALSE(why.is_donated);
}

TEST(Why, Parameters) {
  const auto scene = TheScene();
  const Why x = WhyOf(*scene, "x");
  EXPECT_EQ(x.holder, Holder::kParameter);
  EXPECT_EQ(x.parameter, 1);
  const Why cache = WhyOf(*scene, "cache");
  EXPECT_TRUE(cache.is_donated);
  EXPECT_THAT(AliasesOf(cache), ElementsAre("=new: written in place, into its operand"));
  const Why fresh = WhyOf(*scene, "new");
  EXPECT_EQ(fresh.holder, Holder::kLiveOut);
  EXPECT_THAT(AliasesOf(fresh), ElementsAre("out{0}: an element of a tuple",
                                            "=cache: written in place, into its operand"));
  // Without the analysis, the report shows only that it is donated.
  EXPECT_THAT(AliasesOf(WhyOf(*scene, "cache", false)),
              ElementsAre("=new: an output in a donated parameter"));
}

TEST(Why, LoopState) {
  const auto scene = TheScene();
  const Why why = WhyOf(*scene, "w{1}");
  EXPECT_THAT(AliasesOf(why), ::testing::IsSupersetOf({"last: an element of a tuple",
                                                       "=bp{1}: loop state stays in one place",
                                                       "=bs: loop state stays in one place"}));
  EXPECT_EQ(why.holder, Holder::kLastUse);
}

// On the heap: early lies beside b; sum may take early's place.
TEST(Why, Neighbours) {
  const auto scene = TheScene();
  const Why early = WhyOf(*scene, "early");
  const report::Value& value = scene->report.values[early.value];
  for (const report::ValueId id : {early.below, early.above}) {
    if (id.is_none()) continue;
    const report::Value& other = scene->report.values[id];
    EXPECT_EQ(other.allocation, value.allocation);
    EXPECT_TRUE(other.start <= value.end && value.start <= other.end);
  }
  EXPECT_FALSE(early.below.is_none() && early.above.is_none());
}

TEST(Padding, OfTiles) {
  const auto scene = SceneOf(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[1000,3]{1,0:T(8,128)} parameter(0)
  q = f32[8,130]{1,0:T(8,128)} parameter(1)
  full = f32[8,128]{1,0:T(8,128)} parameter(2)
  ROOT n = f32[1000,3]{1,0:T(8,128)} negate(p)
}
)",
                             "tpu-v5e");
  const std::vector<PaddingTax> taxes = PaddingTaxes(scene->picture, 0);
  ASSERT_EQ(taxes.size(), 3U);
  EXPECT_EQ(taxes[0].value, scene->Find("p"));
  EXPECT_EQ(taxes[0].size, 512000);
  EXPECT_EQ(taxes[0].padding, 500000);
  EXPECT_EQ(taxes[0].cheaper, (CheaperShape{.change = CheaperShape::Change::kTransposed,
                                            .shape = "f32[3,1000]{1,0:T(8,128)}",
                                            .bytes = 32768}));
  EXPECT_EQ(taxes[0].free_shape, "f32[1000,128]{1,0:T(8,128)}");
  // 136 x 128 is no better than 8 x 256: only a smaller one is.
  EXPECT_EQ(taxes[2].value, scene->Find("q"));
  EXPECT_EQ(taxes[2].cheaper, (CheaperShape{.change = CheaperShape::Change::kTrimmed,
                                            .shape = "f32[8,128]{1,0:T(8,128)}",
                                            .bytes = 4096}));
  EXPECT_EQ(PaddingTaxes(scene->picture, 1).size(), 1U);
}

TEST(Padding, MergedDimensions) {
  const auto scene = SceneOf(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[32,32,32,32]{3,0,2,1:T(8,128)} parameter(0)
  ROOT n = f32[32,32,32,32]{3,0,2,1:T(8,128)} negate(p)
}
)",
                             "tpu-v5e");
  const std::vector<PaddingTax> taxes = PaddingTaxes(scene->picture, 1);
  ASSERT_EQ(taxes.size(), 1U);
  EXPECT_EQ(taxes[0].cheaper, (CheaperShape{.change = CheaperShape::Change::kMerged,
                                            .shape = "f32[32,32,1024]{2,1,0:T(8,128)}",
                                            .bytes = 4194304}));
}

TEST(Padding, IsAPartOfItsOwn) {
  const auto scene = SceneOf(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[1000,3]{1,0:T(8,128)} parameter(0)
  ROOT n = f32[1000,3]{1,0:T(8,128)} negate(p)
}
)",
                             "tpu-v5e");
  const Moment moment = MomentAt(scene->picture, 1);
  EXPECT_THAT(RowsOf(PartitionOf(scene->picture, moment, By::kKind)),
              ElementsAre("padding=1000000", "output=12000", "parameter=12000"));
}

TEST(XlaPeak, ReasonsAddUp) {
  const auto scene = TheScene();
  const std::optional<PeakGap> gap = GapToXla(scene->picture);
  ASSERT_TRUE(gap && gap->reasons);
  EXPECT_TRUE(gap->is_printed);
  EXPECT_EQ(gap->xla.bytes + gap->reasons->tuples + gap->reasons->unplaced + gap->reasons->padding +
                gap->reasons->shared,
            gap->live_then);
  EXPECT_EQ(gap->live_then + gap->other_moment, gap->peak.bytes);
  EXPECT_EQ(gap->live_then, MomentAt(scene->picture, gap->xla.time).bytes);
}

}  // namespace
}  // namespace stowplan::explain::test
