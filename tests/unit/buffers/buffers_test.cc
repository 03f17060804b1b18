// SPDX-License-Identifier: Apache-2.0
// Who must share a place with whom.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "buffers/buffer_set.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The in-place pairs in words.
std::vector<std::string> PairsOf(std::string_view text, NoOps no_ops = NoOps::kBitcasts) {
  std::vector<std::string> pairs;
  for (const std::string& line : LinesOf(DumpOf(text, "aliases", {.no_ops = no_ops}))) {
    if (!line.starts_with("buffer")) pairs.push_back(line);
  }
  return pairs;
}

TEST(InPlace, UpdatesWriteOverTheirFirstOperand) {
  EXPECT_THAT(PairsOf(R"(HloModule m, is_scheduled=true
add {
  l = f32[] parameter(0)
  ROOT r = f32[] parameter(1)
}
ENTRY e {
  p = f32[8] parameter(0)
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  j = s32[1] parameter(3)
  d = f32[8] dynamic-update-slice(p, u, i)
  ROOT s = f32[8] scatter(d, j, u), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add
})"),
              ElementsAre("d is written over operand 0, p", "s is written over operand 0, d"));
}

TEST(InPlace, ScattersOfSeveralWriteOverEach) {
  EXPECT_THAT(
      PairsOf(R"(HloModule m, is_scheduled=true
add {
  l = f32[] parameter(0)
  m = f32[] parameter(1)
  n = f32[] parameter(2)
  o = f32[] parameter(3)
  ROOT t = (f32[], f32[]) tuple(l, n)
}
ENTRY e {
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  j = s32[1] parameter(2)
  u = f32[1] parameter(3)
  v = f32[1] parameter(4)
  ROOT s = (f32[8], f32[8]) scatter(p, q, j, u, v), update_window_dims={0}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add
})"),
      ElementsAre("s{0} is written over operand 0, p", "s{1} is written over operand 1, q"));
}

TEST(InPlace, DeclaredPairsAreTakenAsTheyAre) {
  EXPECT_THAT(
      PairsOf(R"(HloModule m, is_scheduled=true
ENTRY e {
  t = (f32[4], f32[8]) parameter(0)
  p = f32[4] parameter(1)
  ROOT c = (f32[8], f32[4]) custom-call(p, t), custom_call_target="f", output_to_operand_aliasing={{0}: (1, {1}), {1}: (0, {})}
})"),
      ElementsAre("c{0} is written over operand 1, t{1}", "c{1} is written over operand 0, p"));
}

std::string Fusion(const std::string& body, const std::string& root_shape) {
  return "HloModule m, is_scheduled=true\nfused {\n"
         "  x = f32[8] parameter(0)\n  u = f32[1] parameter(1)\n  i = s32[] parameter(2)\n" +
         body +
         "}\nENTRY e {\n  p = f32[8] parameter(0)\n  q = f32[1] parameter(1)\n"
         "  k = s32[] parameter(2)\n  ROOT f = " +
         root_shape + " fusion(p, q, k), kind=kLoop, calls=fused\n}";
}

TEST(InPlace, FusionsThatEndInAnUpdateWriteOverItsTarget) {
  EXPECT_THAT(PairsOf(Fusion("  ROOT d = f32[8] dynamic-update-slice(x, u, i)\n", "f32[8]")),
              ElementsAre("d is written over operand 0, x", "f is written over operand 0, p"));
  // Through a bitcast on either side.
  EXPECT_THAT(PairsOf(Fusion("  b = f32[8] bitcast(x)\n"
                             "  d = f32[8] dynamic-update-slice(b, u, i)\n"
                             "  ROOT c = f32[2,4] bitcast(d)\n",
                             "f32[2,4]")),
              ElementsAre("d is written over operand 0, b", "f is written over operand 0, p"));
  // Parts of a tuple, one by one.
  EXPECT_THAT(PairsOf(Fusion("  n = f32[1] negate(u)\n"
                             "  d = f32[8] dynamic-update-slice(x, n, i)\n"
                             "  ROOT t = (f32[1], f32[8]) tuple(n, d)\n",
                             "(f32[1], f32[8])")),
              ElementsAre("d is written over operand 0, x", "f{1} is written over operand 0, p"));
  // What is computed first is no parameter.
  EXPECT_THAT(PairsOf(Fusion("  n = f32[8] negate(x)\n"
                             "  ROOT d = f32[8] dynamic-update-slice(n, u, i)\n",
                             "f32[8]")),
              ElementsAre("d is written over operand 0, n"));
}

TEST(InPlace, BitcastsInFusionsAreForTheVersionToSay) {
  const std::string text = Fusion(
      "  d = f32[8] dynamic-update-slice(x, u, i)\n"
      "  ROOT c = f32[2,4] bitcast(d)\n",
      "f32[2,4]");
  EXPECT_THAT(PairsOf(text, NoOps::kOperandBitcasts),
              ElementsAre("d is written over operand 0, x"));
  EXPECT_THAT(PairsOf(text),
              ElementsAre("d is written over operand 0, x", "f is written over operand 0, p"));
}

TEST(InPlace, BitcastsOfOperandsInFusionsNeverMove) {
  const std::string text = Fusion(
      "  b = f32[8] bitcast(x)\n"
      "  ROOT d = f32[8] dynamic-update-slice(b, u, i)\n",
      "f32[8]");
  EXPECT_THAT(PairsOf(text, NoOps::kOperandBitcasts),
              ElementsAre("d is written over operand 0, b", "f is written over operand 0, p"));
}

TEST(InPlace, ReshapesInFusionsAreForTheBackEndToSay) {
  const std::string text = Fusion(
      "  d = f32[8] dynamic-update-slice(x, u, i)\n"
      "  ROOT c = f32[2,4] reshape(d)\n",
      "f32[2,4]");
  EXPECT_THAT(PairsOf(text), ElementsAre("d is written over operand 0, x"));
  EXPECT_THAT(PairsOf(text, NoOps::kBitcastsAndReshapes),
              ElementsAre("d is written over operand 0, x", "f is written over operand 0, p"));
}

TEST(InPlace, OthersHaveNone) { EXPECT_THAT(PairsOf(kLoop), IsEmpty()); }

TEST(Buffers, ALoopsValuesShareOne) {
  EXPECT_EQ(DumpOf(kLoop, "aliases"),
            "buffer 0: <0 one>\n"
            "buffer 1: <1 bn> <6 zero> <12 cp{0} (phi)> <15 bp{0} (phi)> <19 w{0} (phi)>\n"
            "buffer 2: <2 bs> <7 a> <13 cp{1} (phi)> <16 bp{1} (phi)> <20 w{1} (phi)> live-out\n"
            "buffer 3: <3 bt{}> <9 init{}> <10 cp{} (phi)> <11 bp{} (phi)> <18 w{} (phi)>\n"
            "buffer 4: <4 ten>\n"
            "buffer 5: <5 lt>\n"
            "buffer 6: <8 c>\n");
}

TEST(Buffers, ADonatedParameterSharesWithTheResult) {
  EXPECT_EQ(DumpOf(R"(HloModule m, is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias) }
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  s = f32[4] add(a, b)
  d = f32[4] subtract(a, b)
  ROOT t = (f32[4], f32[4]) tuple(s, d)
})",
                   "aliases"),
            "buffer 0: <0 a> <3 d> live-out\n"
            "buffer 1: <1 b>\n"
            "buffer 2: <2 s> live-out\n"
            "buffer 3: <4 t{}> live-out\n");
}

TEST(Buffers, BranchesShareWithTheConditional) {
  EXPECT_EQ(DumpOf(R"(HloModule m, is_scheduled=true
yes {
  yp = f32[4] parameter(0)
  ROOT yn = f32[4] negate(yp)
}
no {
  np = f32[4] parameter(0)
  ROOT ns = f32[4] sine(np)
}
ENTRY e {
  ok = pred[] parameter(0)
  a = f32[4] parameter(1)
  ROOT c = f32[4] conditional(ok, a, a), true_computation=yes, false_computation=no
})",
                   "aliases"),
            "buffer 0: <0 yn> <1 ns> <4 c (phi)> live-out\n"
            "buffer 1: <2 ok>\n"
            "buffer 2: <3 a>\n");
}

TEST(Buffers, TheLargerSetKeepsItsPlace) {
  // Chains: d1 over p, d2 over d1, so {d1, p} swallows d2; the buffer stands where p stood.
  const Program program = AnalyzeProgram(R"(HloModule m, is_scheduled=true
ENTRY e {
  u = f32[1] parameter(1)
  i = s32[] parameter(2)
  p = f32[8] parameter(0)
  c = f32[8] copy(p)
  d1 = f32[8] dynamic-update-slice(c, u, i)
  d2 = f32[8] dynamic-update-slice(d1, u, i)
  ROOT d3 = f32[8] dynamic-update-slice(d2, u, i)
})");
  const BufferSet& buffers = program.analysis.buffers;
  const BufferId shared = buffers.of(program.ValueAt("c"));
  EXPECT_EQ(buffers.values_of(shared).size(), 4U);
  for (const std::string_view name : {"d1", "d2", "d3"})
    EXPECT_EQ(buffers.of(program.ValueAt(name)), shared);
  EXPECT_NE(buffers.of(program.ValueAt("p")), shared);
  EXPECT_EQ(shared.index, program.ValueAt("c").index);
  EXPECT_TRUE(buffers.is_live_out[shared.index]);
}

}  // namespace
}  // namespace stowplan
