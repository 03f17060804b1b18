// SPDX-License-Identifier: Apache-2.0
#include "target/stats.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "stowplan/hlo/module_builder.h"
#include "text/parse.h"

namespace stowplan {
namespace {

hlo::Module Parse(std::string_view text) {
  Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", text));
  EXPECT_TRUE(module.has_value()) << Render(module.error());
  return *std::move(module);
}

Result<Stats> StatsOf(const hlo::Module& module, std::string_view target = "cpu",
                      size_t largest = 10) {
  return ComputeStats(module, {.target = *FindTarget(target), .largest = largest});
}

constexpr std::string_view kFusion = R"(
HloModule m, input_output_alias={ {1}: (1, {}, may-alias) }

fused {
  a = f32[1000] parameter(0)
  ROOT b = f32[1000] negate(a)
}

ENTRY main {
  p = f32[1000] parameter(0)
  q = bf16[8] parameter(1)
  f = f32[1000] fusion(p), kind=kLoop, calls=fused
  c = f32[1000] copy(f)
  r = bf16[8] negate(q)
  ROOT t = (f32[1000], bf16[8]) tuple(c, r)
}
)";

TEST(Stats, CountsInstructionsAndBytes) {
  const hlo::Module module = Parse(kFusion);
  const Result<Stats> stats = StatsOf(module);
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->computations, 2);
  EXPECT_EQ(stats->fused_computations, 1);
  EXPECT_EQ(stats->instructions, 8);
  EXPECT_EQ(stats->parameters, 2);
  EXPECT_EQ(stats->parameter_bytes, 4016);
  EXPECT_EQ(stats->result_bytes, 4016);
  EXPECT_EQ(stats->aliased_outputs, 1);
  const std::vector<Stats::OpcodeCount> opcodes = {
      {"parameter", 3}, {"negate", 2}, {"copy", 1}, {"fusion", 1}, {"tuple", 1}};
  EXPECT_EQ(stats->opcodes, opcodes);
  // What the fusion computes inside, and what the tuple passes on, takes no room of its own.
  const std::vector<Stats::TypeBytes> types = {{hlo::ElementType::kF32, 3, 12000},
                                               {hlo::ElementType::kBf16, 2, 32}};
  EXPECT_EQ(stats->types, types);
  EXPECT_EQ(stats->total_bytes, 12032);
  ASSERT_EQ(stats->largest.size(), 2U);
  EXPECT_EQ(stats->largest[0].bytes, 4000);
  EXPECT_EQ(stats->largest[0].arrays, 3);
  EXPECT_EQ(module.name(stats->largest[0].first), "p");
}

TEST(Stats, ListsAsManyShapesAsAskedFor) {
  EXPECT_EQ(StatsOf(Parse(kFusion), "cpu", 1)->largest.size(), 1U);
  EXPECT_EQ(StatsOf(Parse(kFusion), "cpu", 0)->largest.size(), 0U);
}

TEST(Stats, SizesAreTheTargets) {
  EXPECT_EQ(StatsOf(Parse("ENTRY e { ROOT p = f32[3,5]{1,0:T(8,128)} parameter(0) }"), "cpu")
                ->total_bytes,
            60);
  EXPECT_EQ(StatsOf(Parse("ENTRY e { ROOT p = f32[3,5]{1,0:T(8,128)} parameter(0) }"), "tpu-v6e")
                ->total_bytes,
            4096);
}

// A while carries its state on; its body's parameters are the same values.
TEST(Stats, LoopsMakeNoValuesOfTheirOwn) {
  const Result<Stats> stats = StatsOf(Parse(R"(
body {
  s = (f32[10], s32[]) parameter(0)
  x = f32[10] get-tuple-element(s), index=0
  i = s32[] get-tuple-element(s), index=1
  y = f32[10] negate(x)
  ROOT t = (f32[10], s32[]) tuple(y, i)
}
cond {
  s = (f32[10], s32[]) parameter(0)
  ROOT c = pred[] constant(true)
}
ENTRY main {
  p = (f32[10], s32[]) parameter(0)
  ROOT w = (f32[10], s32[]) while(p), condition=cond, body=body
}
)"));
  ASSERT_TRUE(stats.has_value());
  const std::vector<Stats::TypeBytes> types = {{hlo::ElementType::kF32, 2, 80},
                                               {hlo::ElementType::kS32, 1, 4},
                                               {hlo::ElementType::kPred, 1, 1}};
  EXPECT_EQ(stats->types, types);
}

TEST(Stats, UnboundedArraysAreCountedApart) {
  const Result<Stats> stats = StatsOf(Parse("ENTRY e { ROOT p = f32[?,3] parameter(0) }"));
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->unbounded_arrays, 1);
  EXPECT_EQ(stats->total_bytes, 0);
}

TEST(Stats, OverflowIsAnErrorAtTheShape) {
  const Result<Stats> stats = StatsOf(
      Parse("ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT big = f32[9000000000,9000000000] iota(), "
            "iota_dimension=0\n}"));
  ASSERT_FALSE(stats.has_value());
  EXPECT_EQ(stats.error()[0].line, 3U);
  EXPECT_EQ(stats.error()[0].message, "`big`: the shape's size does not fit in 64 bits");
  // Each fits, and all of them do not.
  const Result<Stats> sum =
      StatsOf(Parse("ENTRY e {\n  p = s8[9000000000000000000] parameter(0)\n  ROOT n = "
                    "s8[9000000000000000000] negate(p)\n}"));
  ASSERT_FALSE(sum.has_value());
  EXPECT_EQ(sum.error()[0].message,
            "`p`: the sizes of all arrays, up to this one, do not fit in 64 bits together");
}

TEST(Stats, UnknownOpcodesAreCountedByName) {
  const Result<Stats> stats =
      StatsOf(Parse("ENTRY e { p = f32[] parameter(0)\n ROOT x = f32[] new-op(p) }"));
  ASSERT_TRUE(stats.has_value());
  const std::vector<Stats::OpcodeCount> opcodes = {{"new-op", 1}, {"parameter", 1}};
  EXPECT_EQ(stats->opcodes, opcodes);
}

// A tuple of two equal tuples of two equal tuples ... has 2^62 arrays, but only 63 shapes.
TEST(Stats, SharedShapesAreCountedInOnePass) {
  hlo::ModuleBuilder builder(Source::FromBytes("m", ""), hlo::Format::kText);
  hlo::ShapeTable& shapes = builder.module().shapes;
  hlo::ShapeId id = shapes.AddArray(hlo::ElementType::kU8, {}, {}, hlo::LayoutId());
  for (int i = 0; i < 62; ++i) {
    const std::array<hlo::ShapeId, 2> pair = {id, id};
    id = shapes.AddTuple(pair);
  }
  const hlo::CompId entry = builder.BeginComputation(builder.AddText("e"));
  hlo::Instruction head;
  head.name = builder.AddText("p");
  head.shape = id;
  head.opcode = hlo::Opcode::kParameter;
  const std::array<hlo::Attribute, 1> number = {
      hlo::Attribute::OfNumber(hlo::AttributeKey::kParameterNumber, 0)};
  builder.EndComputation(builder.AddInstruction(head, {}, number));
  const Result<Stats> stats = StatsOf(std::move(builder).Build(entry));
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->total_bytes, int64_t{1} << 62);
}

}  // namespace
}  // namespace stowplan
