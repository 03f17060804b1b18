// SPDX-License-Identifier: Apache-2.0
// Wrong plans that XLA has made, in the smallest programs that show them.
#include <gmock/gmock.h>

#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

// openxla/xla PR 46543: a is alive from 6 to 7, b from 7 to 10, both ends inclusive, 4096 bytes
// each, and b begins at byte 1024 while a begins at 0.
constexpr std::string_view kTouching = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[1024]{0} parameter(0)
  c1 = f32[1024]{0} negate(p)
  a = f32[1024]{0} negate(c1)
  b = f32[1024]{0} exponential(a)
  c2 = f32[1024]{0} negate(p)
  ROOT r = f32[1024]{0} add(b, c2)
}
)";

TEST(XlaVectors, TouchingRangesMustNotOverlapInPart) {
  EXPECT_EQ(Summary(CheckText(kTouching, R"(
      p0 4096: p@0
      out 4096: r@0
      temp 20480: a@0 b@1024 c1@8192 c2@12288)")),
            "in-place a b\n");
}
TEST(XlaVectors, TouchingRangesMayCoincide) {
  EXPECT_EQ(Summary(CheckText(kTouching, R"(
      p0 4096: p@0
      out 4096: r@0
      temp 20480: a@0 b@0 c1@8192 c2@12288)")),
            "");
}
TEST(XlaVectors, TouchingRangesOfAReportAlone) {
  const std::string_view text =
      "BufferAssignment:\n"
      "allocation 0: size 8192, preallocated-temp:\n"
      " value: <0 a @0> (size=4096,offset=0): f32[1024]{0}\n"
      " value: <1 b @0> (size=4096,offset=1024): f32[1024]{0}\n"
      "\nTotal bytes used: 8192 (8.0KiB)\n"
      "\nUsed values:\n"
      "<0 a @0>\n positions:\n  a\n uses:\n  b, operand 0\n"
      " from instruction: %a = f32[1024]{0} negate(%z)\n"
      "<1 b @0>\n positions:\n  b\n uses:\n  r, operand 0\n"
      " from instruction: %b = f32[1024]{0} exponential(%a)\n"
      "HloLiveRange (max 11):\n"
      "  InstructionSequence:\n"
      "    0:s0\n    1:s1\n    2:s2\n    3:s3\n    4:s4\n    5:z\n    6:a\n    7:b\n    8:s8\n"
      "    9:s9\n    10:r\n"
      "  BufferLiveRange:\n"
      "    a{}:6-7\n    b{}:7-10\n"
      "  Live ranges at 7 (peak):\n"
      "    a: 4096 bytes\n    b: 4096 bytes\n";
  const std::shared_ptr<const Source> source = Source::FromBytes("report.txt", text);
  const Result<report::Report> report = report::ReadReport(std::span(&source, 1));
  ASSERT_TRUE(report.has_value()) << Render(report.error());
  const Verdict verdict = CheckReport(*report);
  ASSERT_EQ(Summary(verdict), "alive-together a b\n");
  EXPECT_EQ(verdict.findings[0].begin, 1024);
  EXPECT_EQ(verdict.findings[0].end, 4096);
  EXPECT_EQ(verdict.findings[0].write.time, 7);
}

// openxla/xla 49176: a fusion updates an array in place, and the update is made of another part of
// the same array.
std::string Update(std::string_view update) {
  return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[64]{0} parameter(0)
  i = s32[] parameter(1)
  zero = s32[] constant(0)
)" + std::string(update) +
         R"(
  ROOT updated = f32[64]{0} dynamic-update-slice(x, u, i)
}
ENTRY main {
  p = f32[64]{0} parameter(0)
  i = s32[] parameter(1)
  ROOT f = f32[64]{0} fusion(p, i), kind=kLoop, calls=fused
}
)";
}
constexpr std::string_view kInPlace = "p0 256: p@0 f@0\np1 4: i@0";

TEST(XlaVectors, AnUpdateInPlaceMustNotReadItsOwnOutput) {
  EXPECT_EQ(Summary(CheckText(Update("u = f32[16]{0} slice(x), slice={[3:19]}"), kInPlace)),
            "in-place p f\n");
  EXPECT_EQ(
      Summary(CheckText(Update("u = f32[16]{0} dynamic-slice(x, zero), dynamic_slice_sizes={16}"),
                        kInPlace)),
      "in-place p f\n");
  EXPECT_EQ(
      Summary(CheckText(Update("r = f32[64]{0} reverse(x), dimensions={0}\n"
                               "u = f32[16]{0} dynamic-slice(r, i), dynamic_slice_sizes={16}"),
                        kInPlace)),
      "in-place p f\n");
}
TEST(XlaVectors, AnUpdateInPlaceMayReadWhatItWritesThere) {
  EXPECT_EQ(
      Summary(CheckText(Update("s = f32[16]{0} dynamic-slice(x, i), dynamic_slice_sizes={16}\n"
                               "u = f32[16]{0} negate(s)"),
                        kInPlace)),
      "");
}

// Where the update goes is known: it is read from there, from elsewhere, or from what it writes.
TEST(XlaVectors, AnUpdateInPlaceAtAConstantPlace) {
  const auto update = [](std::string_view slice) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[8,8]{1,0} parameter(0)
  flat = f32[64]{0} bitcast(x)
  at = s32[] constant(16)
  s = f32[2,8]{1,0} slice(x), slice=)" +
           std::string(slice) + R"(
  n = f32[2,8]{1,0} negate(s)
  u = f32[16]{0} bitcast(n)
  ROOT updated = f32[64]{0} dynamic-update-slice(flat, u, at)
}
ENTRY main {
  p = f32[8,8]{1,0} parameter(0)
  ROOT f = f32[64]{0} fusion(p), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 256: p@0 f@0";
  EXPECT_EQ(Summary(CheckText(update("{[2:4], [0:8]}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(update("{[4:6], [0:8]}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(update("{[0:2], [0:8]}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(update("{[3:5], [0:8]}"), kPlan)), "in-place p f\n");
  EXPECT_EQ(Summary(CheckText(update("{[1:3], [0:8]}"), kPlan)), "in-place p f\n");
}

// The same of a part of each row, whose bytes are not one run.
TEST(XlaVectors, AnUpdateInPlaceOfColumns) {
  const auto update = [](std::string_view slice, std::string_view layout) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[8,8]{1,0} parameter(0)
  zero = s32[] constant(0)
  at = s32[] constant(3)
  s = f32[8,2])" +
           std::string(layout) + " slice(x), slice=" + std::string(slice) + R"(
  u = f32[8,2]{1,0} negate(s)
  ROOT updated = f32[8,8]{1,0} dynamic-update-slice(x, u, zero, at)
}
ENTRY main {
  p = f32[8,8]{1,0} parameter(0)
  ROOT f = f32[8,8]{1,0} fusion(p), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 256: p@0 f@0";
  EXPECT_EQ(Summary(CheckText(update("{[0:8], [3:5]}", "{1,0}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(update("{[0:8], [5:7]}", "{1,0}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(update("{[0:8], [1:3]}", "{1,0}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(update("{[0:8], [4:6]}", "{1,0}"), kPlan)), "in-place p f\n");
  // Inside of a fusion a layout is no place: element (i, j) of the slice is what it was.
  EXPECT_EQ(Summary(CheckText(update("{[0:8], [3:5]}", "{0,1}"), kPlan)), "");
}

// GPUs run a library's call inside of a fusion that slices its other operands.
TEST(XlaVectors, AFusionAroundACallIsAsTheCall) {
  const auto program = [](std::string_view aliasing, std::string_view operands) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  c = f32[8,8]{1,0} parameter(0)
  a = f32[2,8,8]{2,1,0} parameter(1)
  i = s32[] parameter(2)
  zero = s32[] constant(0)
  s = f32[1,8,8]{2,1,0} dynamic-slice(a, i, zero, zero), dynamic_slice_sizes={1,8,8}
  b = f32[8,8]{1,0} bitcast(s)
  call = (f32[8,8]{1,0}, s8[64]{0}) custom-call()" +
           std::string(operands) + R"(), custom_call_target="gemm")" + std::string(aliasing) + R"(
  ROOT product = f32[8,8]{1,0} get-tuple-element(call), index=0
}
ENTRY main {
  c = f32[8,8]{1,0} parameter(0)
  a = f32[2,8,8]{2,1,0} parameter(1)
  i = s32[] parameter(2)
  ROOT f = f32[8,8]{1,0} fusion(c, a, i), kind=kCustom, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 256: c@0 f@0\np1 512: a@0\np2 4: i@0";
  constexpr std::string_view kAliasing = ", output_to_operand_aliasing={{0}: (1, {})}";
  EXPECT_EQ(Summary(CheckText(program(kAliasing, "b, c"), kPlan, "gpu")), "");
  EXPECT_EQ(Summary(CheckText(program("", "b, c"), kPlan, "gpu")), "in-place c f\n");
  EXPECT_EQ(Summary(CheckText(program(kAliasing, "c, c"), kPlan, "gpu")), "in-place c f\n");
}

// openxla/xla 38597: an update in place of what a transposition makes of an operand.
std::string Transposed(std::string_view layout) {
  return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[16,16]{1,0} parameter(0)
  u = f32[4,16]{1,0} parameter(1)
  i = s32[] parameter(2)
  zero = s32[] constant(0)
  t = f32[16,16])" +
         std::string(layout) + R"( transpose(x), dimensions={1,0}
  ROOT updated = f32[16,16])" +
         std::string(layout) + R"( dynamic-update-slice(t, u, i, zero)
}
ENTRY main {
  p = f32[16,16]{1,0} parameter(0)
  u = f32[4,16]{1,0} parameter(1)
  i = s32[] parameter(2)
  ROOT f = f32[16,16])" +
         std::string(layout) + R"( fusion(p, u, i), kind=kLoop, calls=fused
}
)";
}

constexpr std::string_view kTransposedInPlace = "p0 1024: p@0 f@0\np1 256: u@0\np2 4: i@0";

TEST(XlaVectors, AnUpdateInPlaceOfATransposition) {
  EXPECT_EQ(Summary(CheckText(Transposed("{1,0}"), kTransposedInPlace)), "in-place p f\n");
}
TEST(XlaVectors, ATranspositionMayMoveNothing) {
  EXPECT_EQ(Summary(CheckText(Transposed("{0,1}"), kTransposedInPlace)), "");
}

// jaxlib 0.4.35 has such a fusion behind each LU decomposition: layouts inside of a fusion are no
// places, only those at its ends are.
TEST(XlaVectors, LayoutsThatChangeBack) {
  const auto program = [](std::string_view layout) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[16,16]{0,1} parameter(0)
  c = f32[16,16]{1,0} copy(x)
  n = f32[16,16]{1,0} negate(c)
  ROOT back = f32[16,16])" +
           std::string(layout) + R"( copy(n)
}
ENTRY main {
  p = f32[16,16]{0,1} parameter(0)
  ROOT f = f32[16,16])" +
           std::string(layout) + R"( fusion(p), kind=kLoop, calls=fused
}
)";
  };
  EXPECT_EQ(Summary(CheckText(program("{0,1}"), "p0 1024: p@0 f@0")), "");
  EXPECT_EQ(Summary(CheckText(program("{1,0}"), "p0 1024: p@0 f@0")), "in-place p f\n");
}

// An update writes its slice alone only where it updates the bytes that lie there: any other
// operand is copied, over what is still to be read.
TEST(XlaVectors, AnUpdateOfSomethingElseWritesAll) {
  const auto program = [](std::string_view base, std::string_view at) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[8]{0} parameter(0)
  y = f32[8]{0} parameter(1)
  i = s32[] parameter(2)
  n = f32[8]{0} negate(x)
  b = f32[8]{0} bitcast(x)
  zero = s32[] constant(0)
)" + std::string(at) +
           "  ROOT updated = f32[8]{0} dynamic-update-slice(" + std::string(base) + R"(, s, zero)
}
ENTRY main {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} parameter(1)
  j = s32[] parameter(2)
  ROOT f = f32[8]{0} fusion(p, q, j), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 32: p@0 f@0\np1 32: q@0\np2 4: j@0";
  constexpr std::string_view kApart = "  s = f32[4]{0} slice(x), slice={[4:8]}\n";
  constexpr std::string_view kOne =
      "  s = f32[1]{0} dynamic-slice(x, i), dynamic_slice_sizes={1}\n";
  constexpr std::string_view kOwn = "  s = f32[4]{0} slice(x), slice={[0:4]}\n";
  for (const std::string_view at : {kApart, kOne}) {
    EXPECT_EQ(Summary(CheckText(program("x", at), kPlan)), "");
    EXPECT_EQ(Summary(CheckText(program("b", at), kPlan)), "");
    EXPECT_EQ(Summary(CheckText(program("y", at), kPlan)), "in-place p f\n");
    EXPECT_EQ(Summary(CheckText(program("n", at), kPlan)), "in-place p f\n");
  }
  // Element i for element i.
  for (const std::string_view base : {"x", "b", "y", "n"})
    EXPECT_EQ(Summary(CheckText(program(base, kOwn), kPlan)), "");
}

// The slices are equal, but one of them counts its elements in another order.
TEST(XlaVectors, ASliceThatChangesItsLayoutMovesElements) {
  const auto program = [](std::string_view array, std::string_view base, std::string_view slice,
                          std::string_view layout, std::string_view view, std::string_view starts) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
fused {
  x = f32[4,4]{1,0} parameter(0)
  b = )" + std::string(array) +
           R"( bitcast(x)
  zero = s32[] constant(0)
  s = f32[2,4])" +
           std::string(layout) + " " + std::string(slice) + "\n  u = " + std::string(view) +
           " bitcast(s)\n  d = " + std::string(array) + " dynamic-update-slice(" +
           std::string(base) + ", u, " + std::string(starts) + R"()
  ROOT r = f32[4,4]{1,0} bitcast(d)
}
ENTRY main {
  p = f32[4,4]{1,0} parameter(0)
  ROOT f = f32[4,4]{1,0} fusion(p), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 64: p@0 f@0";
  constexpr std::string_view kStatic = "slice(x), slice={[0:2], [0:4]}";
  constexpr std::string_view kDynamic = "dynamic-slice(x, zero, zero), dynamic_slice_sizes={2,4}";
  const auto flat = [&](std::string_view layout) {
    return program("f32[16]{0}", "b", kStatic, layout, "f32[8]{0}", "zero");
  };
  const auto same = [&](std::string_view layout) {
    return program("f32[4,4]{1,0}", "x", kDynamic, layout, "f32[2,4]{1,0}", "zero, zero");
  };
  EXPECT_EQ(Summary(CheckText(flat("{1,0}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(flat("{0,1}"), kPlan)), "in-place p f\n");
  EXPECT_EQ(Summary(CheckText(same("{1,0}"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(same("{0,1}"), kPlan)), "in-place p f\n");
}

// What a fusion inside of a fusion returns is read by all that call it.
TEST(XlaVectors, ABodyOfTwoFusionsReturnsToBoth) {
  const auto program = [](std::string_view last) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
inner {
  z = f32[8]{0} parameter(0)
  ROOT e = f32[8]{0} exponential(z)
}
fused {
  x = f32[8]{0} parameter(0)
  n = f32[8]{0} negate(x)
  a = f32[8]{0} fusion(x), kind=kLoop, calls=inner
  b = f32[8]{0} fusion(n), kind=kLoop, calls=inner
  r = f32[8]{0} )" +
           std::string(last) + R"(
  ROOT s = f32[8]{0} add(a, r)
}
ENTRY main {
  p = f32[8]{0} parameter(0)
  ROOT f = f32[8]{0} fusion(p), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 32: p@0 f@0";
  EXPECT_EQ(Summary(CheckText(program("negate(b)"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(program("reverse(b), dimensions={0}"), kPlan)), "in-place p f\n");
  EXPECT_EQ(Summary(CheckText(program("reverse(a), dimensions={0}"), kPlan)), "in-place p f\n");
}

// Made to work in place, but not where it moves all elements, too.
TEST(XlaVectors, AnUpdateThatChangesTheLayoutMovesElements) {
  const auto program = [](std::string_view layout, bool is_fused) {
    const std::string shape = "f32[4,4]" + std::string(layout);
    const std::string scatter =
        shape +
        " scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second\n";
    constexpr std::string_view kParameters = R"(
  x = f32[4,4]{1,0} parameter(0)
  i = s32[1,1]{1,0} parameter(1)
  u = f32[1,4]{1,0} parameter(2)
)";
    std::string text = R"(HloModule m, is_scheduled=true
second {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
)";
    if (is_fused) text += "fused {" + std::string(kParameters) + "  ROOT s = " + scatter + "}\n";
    return text + "ENTRY main {" + std::string(kParameters) + "  ROOT f = " +
           (is_fused ? shape + " fusion(x, i, u), kind=kLoop, calls=fused\n" : scatter) + "}\n";
  };
  constexpr std::string_view kPlan = "p0 64: x@0 f@0\np1 4: i@0\np2 16: u@0";
  for (const bool is_fused : {false, true}) {
    const std::string sound = Summary(CheckText(program("{1,0}", is_fused), kPlan));
    EXPECT_EQ(sound.find("in-place"), std::string::npos) << sound;
    const std::string moved = Summary(CheckText(program("{0,1}", is_fused), kPlan));
    EXPECT_NE(moved.find("in-place x f"), std::string::npos) << moved;
  }
}

// Others that are made to write over an operand: they do where both lie alike, and nowhere else.
TEST(XlaVectors, OperationsInPlaceThatChangeTheLayoutMoveElements) {
  const auto solve = [](std::string_view layout) {
    return R"(HloModule m, is_scheduled=true
ENTRY main {
  a = f32[4,4]{1,0} parameter(0)
  b = f32[4,8]{1,0} parameter(1)
  ROOT f = f32[4,8])" +
           std::string(layout) + R"( triangular-solve(a, b), left_side=true, lower=true
}
)";
  };
  constexpr std::string_view kSolved = "p0 64: a@0\np1 128: b@0 f@0";
  EXPECT_EQ(Summary(CheckText(solve("{1,0}"), kSolved)).find("in-place"), std::string::npos);
  EXPECT_THAT(Summary(CheckText(solve("{0,1}"), kSolved)), testing::HasSubstr("in-place b f"));

  const auto exchange = [](std::string_view layout) {
    return R"(HloModule m, is_scheduled=true
ENTRY main {
  x = f32[8,4]{1,0} parameter(0)
  b = f32[8,4]{1,0} parameter(1)
  i = s32[2]{0} parameter(2)
  ROOT f = f32[8,4])" +
           std::string(layout) + R"( ragged-all-to-all(x, b, i, i, i, i), replica_groups={{0,1}}
}
)";
  };
  constexpr std::string_view kExchanged = "p0 128: x@0\np1 128: b@0 f@0\np2 8: i@0";
  EXPECT_EQ(Summary(CheckText(exchange("{1,0}"), kExchanged)).find("in-place"), std::string::npos);
  EXPECT_THAT(Summary(CheckText(exchange("{0,1}"), kExchanged)),
              testing::HasSubstr("in-place b f"));

  const auto permute = [](std::string_view layout) {
    return R"(HloModule m, is_scheduled=true
ENTRY main {
  x = f32[8,4]{1,0} parameter(0)
  b = f32[8,4]{1,0} parameter(1)
  i = (s32[], s32[]) parameter(2)
  ROOT f = f32[8,4])" +
           std::string(layout) +
           R"( collective-permute(x, b, i, i), source_target_pairs={{0,1},{1,0}}, slice_sizes={{4,4}}
}
)";
  };
  EXPECT_EQ(Summary(CheckText(permute("{1,0}"), kExchanged)).find("in-place"), std::string::npos);
  EXPECT_THAT(Summary(CheckText(permute("{0,1}"), kExchanged)), testing::HasSubstr("in-place b f"));
}

// XLA:GPU, jaxlib 0.11.2: one loop writes an array updated in place, and the values of which the
// update takes a part (docs/findings.md, 6).
TEST(XlaVectors, AnUpdateInPlaceBesideAnotherOutput) {
  const auto update = [](std::string_view at) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }
fused {
  x = f32[64]{0} parameter(0)
  y = f32[64]{0} parameter(1)
  d = f32[64]{0} subtract(y, x)
  u = f32[32]{0} slice(d), slice={[0:32]}
  at = s32[] constant()" +
           std::string(at) + R"()
  updated = f32[64]{0} dynamic-update-slice(x, u, at)
  ROOT both = (f32[64]{0}, f32[64]{0}) tuple(updated, d)
}
ENTRY main {
  p = f32[64]{0} parameter(0)
  q = f32[64]{0} parameter(1)
  ROOT f = (f32[64]{0}, f32[64]{0}) fusion(p, q), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan =
      "p0 256: p@0 f{0}@0\np1 256: q@0\nout 256: f{1}@0\nout 16: f@0";
  EXPECT_EQ(Summary(CheckText(update("0"), kPlan, "gpu")), "");
  EXPECT_EQ(Summary(CheckText(update("1"), kPlan, "gpu")), "in-place p f{0}\n");
  EXPECT_EQ(Summary(CheckText(update("16"), kPlan, "gpu")), "in-place p f{0}\n");
  // What lies around the slice stays as it is, so that other turns may read it.
  EXPECT_EQ(Summary(CheckText(update("32"), kPlan, "gpu")), "");
}

// XLA:CPU and XLA:GPU: the array that a scatter adds to also has its indices (5).
TEST(XlaVectors, AScatterOverItsOwnIndices) {
  const auto scatter = [](std::string_view indices) {
    return R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }
add {
  l = s32[] parameter(0)
  r = s32[] parameter(1)
  ROOT s = s32[] add(l, r)
}
fused {
  x = s32[8,1]{1,0} parameter(0)
  u = s32[8,1,1]{2,1,0} parameter(1)
  i = s32[8,1]{1,0} parameter(2)
  ROOT scattered = s32[8,1]{1,0} scatter(x, )" +
           std::string(indices) +
           R"(, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
ENTRY main {
  p = s32[8,1]{1,0} parameter(0)
  v = s32[8,1,1]{2,1,0} parameter(1)
  j = s32[8,1]{1,0} parameter(2)
  ROOT f = s32[8,1]{1,0} fusion(p, v, j), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan = "p0 32: p@0 f@0\np1 32: v@0\np2 32: j@0";
  EXPECT_EQ(Summary(CheckText(scatter("i"), kPlan)), "");
  EXPECT_EQ(Summary(CheckText(scatter("x"), kPlan)), "in-place p f\n");
}

// XLA:GPU, jaxlib 0.11.2: a parameter is returned twice, once in the place of another one, and both
// parameters get that place (7).
TEST(XlaVectors, TwoParametersInOnePlace) {
  constexpr std::string_view kProgram =
      R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
ENTRY main {
  b = f32[4]{0} parameter(1)
  s = f32[4]{0} sine(b)
  a = f32[4]{0} parameter(0)
  c = f32[4]{0} copy(a)
  ROOT r = (f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(c, a, s)
}
)";
  const std::string findings =
      Summary(CheckText(kProgram, "p0 16: a@0 b@0 c@0\nout 16: s@0\nout 24: r@0", "gpu"));
  EXPECT_THAT(findings, testing::HasSubstr("overwritten"));
  EXPECT_THAT(findings, testing::HasSubstr("outputs-share-bytes r{0} r{1}"));
}

}  // namespace
}  // namespace stowplan::check
