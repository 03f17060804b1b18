// SPDX-License-Identifier: Apache-2.0
// Fusions that write over an operand: pairs that differ in one dimension, one layout, one offset.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

// A fusion over parameter 0 (x) with further parameters y, i, j. Its first output, or only one, is
// donated x.
struct Fusion {
  std::string x = "f32[8,8]{1,0}";
  std::string y = "f32[8,8]{1,0}";
  std::string body;
  std::string result;   // the shape of the output over x
  std::string other;    // that of the second one, if any
  std::string root;     // the operands of the tuple, if there is another one
  int64_t bytes = 256;  // of x
  std::string_view target = "cpu";
  std::string kind = "kLoop";
};

// "safe", "clash" or "unknown".
std::string Decide(const Fusion& fusion) {
  const bool is_pair = !fusion.other.empty();
  const std::string all = is_pair ? "(" + fusion.result + ", " + fusion.other + ")" : fusion.result;
  const std::string text = "HloModule m, is_scheduled=true, input_output_alias={ {" +
                           std::string(is_pair ? "0" : "") + R"(}: (0, {}, may-alias) }
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
fused {
  x = )" + fusion.x + R"( parameter(0)
  y = )" + fusion.y + R"( parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  zero = s32[] constant(0)
  one = s32[] constant(1)
  none = f32[] constant(0)
)" + fusion.body + (is_pair ? "  ROOT both = " + all + " tuple(" + fusion.root + ")\n" : "") +
                           "}\nENTRY main {\n  p = " + fusion.x +
                           " parameter(0)\n  q = " + fusion.y + R"( parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT f = )" + all + R"( fusion(p, q, i, j), kind=)" +
                           fusion.kind + ", calls=fused\n}\n";
  const std::string size = std::to_string(fusion.bytes);
  const Verdict verdict = CheckText(text,
                                    "p0 " + size + (is_pair ? ": p@0 f{0}@0" : ": p@0 f@0") +
                                        "\np1 1048576: q@0\np2 1048576: i@0\np3 1048576: j@0" +
                                        (is_pair ? "\nout 1048576: f{1}@0\nout 1024: f@0" : ""),
                                    fusion.target);
  if (verdict.is_unsound())
    return Summary(verdict).starts_with("in-place p ") ? "clash" : Summary(verdict);
  return verdict.doubt.empty() ? "safe" : "unknown";
}
std::string Decide(std::string body, std::string result = "f32[8,8]{1,0}") {
  return Decide({.body = std::move(body), .result = std::move(result)});
}

TEST(Fusion, TranspositionsComeBackOrDoNot) {
  const auto body = [](std::string_view first, std::string_view second) {
    return Decide(
        {.x = "f32[4,4,4]{2,1,0}",
         .body = "  a = f32[4,4,4]{2,1,0} transpose(x), dimensions=" + std::string(first) +
                 "\n  ROOT b = f32[4,4,4]{2,1,0} transpose(a), dimensions=" + std::string(second) +
                 "\n",
         .result = "f32[4,4,4]{2,1,0}"});
  };
  EXPECT_EQ(body("{1,2,0}", "{2,0,1}"), "safe");
  EXPECT_EQ(body("{1,2,0}", "{1,2,0}"), "clash");
  EXPECT_EQ(body("{1,0,2}", "{1,0,2}"), "safe");
  EXPECT_EQ(body("{1,0,2}", "{0,2,1}"), "clash");
}

TEST(Fusion, LayoutsOfOutputsArePlaces) {
  EXPECT_EQ(Decide("  ROOT a = f32[8,8]{1,0} copy(x)\n"), "safe");
  EXPECT_EQ(Decide("  ROOT a = f32[8,8]{0,1} copy(x)\n", "f32[8,8]{0,1}"), "clash");
  EXPECT_EQ(Decide("  ROOT a = f32[8,8]{0,1} transpose(x), dimensions={1,0}\n", "f32[8,8]{0,1}"),
            "safe");
  EXPECT_EQ(Decide("  ROOT a = f32[8,8]{0,1} bitcast(x)\n", "f32[8,8]{0,1}"), "safe");
}

// No common factor joins rows of 6 and rows of 8; there and back again nothing moves.
TEST(Fusion, ReshapesThatDoNotAlign) {
  const auto body = [](std::string_view between, std::string_view last) {
    return Decide({.x = "f32[4,6]{1,0}",
                   .body = "  a = f32[3,8]{1,0} reshape(x)\n  b = f32[3,8]{1,0} " +
                           std::string(between) + "(a)" +
                           (between == "reverse" ? ", dimensions={1}" : "") +
                           "\n  ROOT c = " + std::string(last) + " reshape(b)\n",
                   .result = std::string(last)});
  };
  EXPECT_EQ(body("negate", "f32[4,6]{1,0}"), "safe");
  EXPECT_EQ(body("negate", "f32[2,12]{1,0}"), "safe");
  EXPECT_EQ(body("negate", "f32[4,6]{0,1}"), "clash");
  EXPECT_EQ(body("reverse", "f32[4,6]{1,0}"), "clash");
}

TEST(Fusion, NarrowElementsOverWideOnes) {
  EXPECT_EQ(Decide("  ROOT a = bf16[8,8]{1,0} convert(x)\n", "bf16[8,8]{1,0}"), "clash");
  EXPECT_EQ(Decide("  ROOT a = s32[8,8]{1,0} convert(x)\n", "s32[8,8]{1,0}"), "safe");
  // One element: all of it is read before any of it is written.
  EXPECT_EQ(Decide({.x = "f32[1,1]{1,0}",
                    .body = "  ROOT a = bf16[1,1]{1,0} convert(x)\n",
                    .result = "bf16[1,1]{1,0}"}),
            "safe");
  EXPECT_EQ(Decide({.x = "f32[2,1]{1,0}",
                    .body = "  ROOT a = bf16[2,1]{1,0} convert(x)\n",
                    .result = "bf16[2,1]{1,0}"}),
            "clash");
}

TEST(Fusion, LargeArraysAreNotListed) {
  const auto body = [](std::string_view dimensions) {
    return Decide({.x = "f32[4096,8192,4096]{2,1,0}",
                   .body = "  a = f32[4096,8192,4096]{2,1,0} reverse(x), dimensions={0,1}\n"
                           "  ROOT b = f32[4096,8192,4096]{2,1,0} reverse(a), dimensions=" +
                           std::string(dimensions) + "\n",
                   .result = "f32[4096,8192,4096]{2,1,0}",
                   .bytes = int64_t{4} * 4096 * 8192 * 4096});
  };
  EXPECT_EQ(body("{1,0}"), "safe");
  EXPECT_EQ(body("{1}"), "clash");
}

// What XLA:CPU makes of a beam search: the slice is read through a view with one more dimension.
TEST(Fusion, AnUpdateReadsItsSliceThroughAnotherView) {
  const auto body = [](std::string_view at, std::string_view sizes, std::string_view shape) {
    return Decide({.x = "f32[4,1,21]{2,1,0}",
                   .body = "  b = f32[4,21]{1,0} bitcast(x)\n  d = " + std::string(shape) +
                           " dynamic-slice(x, " + std::string(at) +
                           "), dynamic_slice_sizes=" + std::string(sizes) +
                           "\n  e = f32[4,1]{1,0} bitcast(d)\n  n = f32[4,1]{1,0} negate(e)\n"
                           "  ROOT u = f32[4,21]{1,0} dynamic-update-slice(b, n, zero, i)\n",
                   .result = "f32[4,21]{1,0}",
                   .bytes = 336});
  };
  constexpr std::string_view kColumn = "f32[4,1,1]{2,1,0}";
  EXPECT_EQ(body("zero, zero, i", "{4,1,1}", kColumn), "safe");
  EXPECT_EQ(body("zero, one, i", "{4,1,1}", kColumn), "safe");  // moved inside: 0
  // Another column: a row's element is read before any of the row is written.
  EXPECT_EQ(body("zero, zero, j", "{4,1,1}", kColumn), "safe");
  EXPECT_EQ(body("zero, zero, i", "{1,1,4}", "f32[1,1,4]{2,1,0}"), "clash");
}

// Offsets computed twice are one number, if they are moved inside in the same way.
TEST(Fusion, OffsetsThatAreEqual) {
  const auto body = [](std::string_view first, std::string_view second) {
    return Decide(
        "  one2 = s32[] constant(1)\n  ia = s32[] add(i, one)\n"
        "  ib = s32[] add(i, one2)\n  ja = s32[] add(j, one)\n"
        "  s = f32[2,8]{1,0} dynamic-slice(x, " +
        std::string(first) +
        ", zero), dynamic_slice_sizes={2,8}\n  n = f32[2,8]{1,0} negate(s)\n"
        "  ROOT u = f32[8,8]{1,0} dynamic-update-slice(x, n, " +
        std::string(second) + ", zero)\n");
  };
  EXPECT_EQ(body("ia", "ib"), "safe");
  EXPECT_EQ(body("ia", "i"), "clash");
  EXPECT_EQ(body("ia", "ja"), "clash");
  EXPECT_EQ(body("i", "i"), "safe");
}
TEST(Fusion, OffsetsAreMovedInside) {
  // Rows of one are read where rows of two are written: the same row but at the end.
  EXPECT_EQ(Decide("  s = f32[1,8]{1,0} dynamic-slice(x, i, zero), dynamic_slice_sizes={1,8}\n"
                   "  r = f32[8]{0} reshape(s)\n"
                   "  b = f32[2,8]{1,0} broadcast(r), dimensions={1}\n"
                   "  ROOT u = f32[8,8]{1,0} dynamic-update-slice(x, b, i, zero)\n"),
            "clash");
}

TEST(Fusion, SlicesApart) {
  const auto body = [](std::string_view slice, std::string_view start) {
    return Decide("  s = f32[2,8]{1,0} slice(x), slice={" + std::string(slice) +
                  ", [0:8]}\n  three = s32[] constant(3)\n"
                  "  ROOT u = f32[8,8]{1,0} dynamic-update-slice(x, s, " +
                  std::string(start) + ", zero)\n");
  };
  EXPECT_EQ(body("[5:7]", "three"), "safe");
  EXPECT_EQ(body("[1:3]", "three"), "safe");
  EXPECT_EQ(body("[3:5]", "three"), "safe");
  EXPECT_EQ(body("[4:6]", "three"), "clash");
  EXPECT_EQ(body("[2:4]", "three"), "clash");
  EXPECT_EQ(body("[5:7]", "i"), "clash");
}
TEST(Fusion, EveryOtherRow) {
  // Even rows are written, and odd ones or the same are read.
  const auto body = [](std::string_view rows) {
    return Decide({.x = "f32[4,2,8]{2,1,0}",
                   .body = "  s = f32[4,1,8]{2,1,0} slice(x), slice={[0:4], " + std::string(rows) +
                           ", [0:8]}\n  r = f32[4,1,8]{2,1,0} reverse(s), dimensions={0}\n"
                           "  ROOT u = f32[4,2,8]{2,1,0} dynamic-update-slice(x, r, zero, zero, "
                           "zero)\n",
                   .result = "f32[4,2,8]{2,1,0}"});
  };
  EXPECT_EQ(body("[1:2]"), "safe");
  EXPECT_EQ(body("[0:1]"), "clash");
}

// A chain of updates: only what no slice covers stays as it is.
TEST(Fusion, TwoUpdatesOfOneArray) {
  const auto body = [](std::string_view slice) {
    return Decide(
        "  y2 = f32[2,8]{1,0} slice(y), slice={[0:2], [0:8]}\n"
        "  s = f32[2,8]{1,0} slice(x), slice={" +
        std::string(slice) +
        ", [0:8]}\n  four = s32[] constant(4)\n"
        "  a = f32[8,8]{1,0} dynamic-update-slice(x, y2, zero, zero)\n"
        "  ROOT u = f32[8,8]{1,0} dynamic-update-slice(a, s, four, zero)\n");
  };
  EXPECT_EQ(body("[6:8]"), "safe");
  EXPECT_EQ(body("[4:6]"), "safe");
  EXPECT_EQ(body("[5:7]"), "clash");
  EXPECT_EQ(body("[1:3]"), "clash");
}

// What XLA:GPU gets wrong when one buffer has two names: here it has one.
TEST(Fusion, AnotherOutputReadsItTransposed) {
  const auto body = [](std::string_view order) {
    return Decide({.x = "f32[8,8,64]{2,1,0}",
                   .y = "f32[8,8,64]{2,1,0}",
                   .body = "  s = f32[8,8,64]{2,1,0} subtract(y, x)\n"
                           "  m = f32[8,8,64]{2,1,0} multiply(x, y)\n"
                           "  t = f32[8,8,64]{2,1,0} transpose(m), dimensions=" +
                           std::string(order) + "\n",
                   .result = "f32[8,8,64]{2,1,0}",
                   .other = "f32[8,8,64]{2,1,0}",
                   .root = "s, t",
                   .bytes = 16384});
  };
  EXPECT_EQ(body("{0,1,2}"), "safe");
  EXPECT_EQ(body("{1,0,2}"), "clash");
}
TEST(Fusion, OneBufferWithTwoNames) {
  const auto program = [](std::string_view order) {
    return R"(HloModule m, is_scheduled=true
fused {
  u = f32[4,4]{1,0} parameter(0)
  v = f32[4,4]{1,0} parameter(1)
  n = f32[4,4]{1,0} negate(u)
  t = f32[4,4]{1,0} transpose(v), dimensions=)" +
           std::string(order) + R"(
  ROOT both = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(n, t)
}
ENTRY main {
  p = f32[4,4]{1,0} parameter(0)
  m = f32[4,4]{1,0} exponential(p)
  names = (f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(m, m)
  u = f32[4,4]{1,0} get-tuple-element(names), index=0
  v = f32[4,4]{1,0} get-tuple-element(names), index=1
  ROOT f = (f32[4,4]{1,0}, f32[4,4]{1,0}) fusion(u, v), kind=kLoop, calls=fused
}
)";
  };
  constexpr std::string_view kPlan =
      "p0 64: p@0\nout 64: m@0 f{0}@0\nout 64: f{1}@0\nout 16: f@0\ntemp 16: names@0";
  EXPECT_EQ(Summary(CheckText(program("{0,1}"), kPlan, "gpu")), "");
  EXPECT_EQ(Summary(CheckText(program("{1,0}"), kPlan, "gpu")), "in-place v f{0}\n");
}

// A slice is updated in place, and something of the slice is returned, too.
TEST(Fusion, AnUpdateThatReturnsItsSlice) {
  const auto body = [](std::string_view other, std::string_view made) {
    return Decide({.body = "  s = f32[2,8]{1,0} dynamic-slice(x, i, zero), "
                           "dynamic_slice_sizes={2,8}\n  n = f32[2,8]{1,0} negate(s)\n"
                           "  u = f32[8,8]{1,0} dynamic-update-slice(x, n, i, zero)\n"
                           "  k = f32[2,8]{1,0} dynamic-slice(x, j, zero), "
                           "dynamic_slice_sizes={2,8}\n  o = " +
                           std::string(other) + " " + std::string(made) + "\n",
                   .result = "f32[8,8]{1,0}",
                   .other = std::string(other),
                   .root = "u, o"});
  };
  EXPECT_EQ(body("f32[2,8]{1,0}", "exponential(s)"), "safe");
  EXPECT_EQ(body("f32[16]{0}", "reshape(s)"), "safe");
  EXPECT_EQ(body("f32[2,1,8]{2,1,0}", "reshape(s)"), "safe");
  EXPECT_EQ(body("f32[2]{0}", "reduce(s, none), dimensions={1}, to_apply=sum"), "safe");
  EXPECT_EQ(body("f32[8,2]{1,0}", "transpose(s), dimensions={1,0}"), "clash");
  EXPECT_EQ(body("f32[2,8]{1,0}", "reverse(s), dimensions={0}"), "clash");
  EXPECT_EQ(body("f32[1,8]{1,0}", "slice(s), slice={[0:1], [0:8]}"), "clash");
  EXPECT_EQ(body("f32[2,8]{1,0}", "exponential(k)"), "clash");
  EXPECT_EQ(body("f32[2]{0}", "reduce(k, none), dimensions={1}, to_apply=sum"), "clash");
  // The whole array, in a loop over all of it.
  EXPECT_EQ(body("f32[8,8]{1,0}", "exponential(x)"), "safe");
  EXPECT_EQ(body("f32[8,8]{1,0}", "transpose(x), dimensions={1,0}"), "clash");
}

TEST(Fusion, ReductionsOfTheSameLoop) {
  const auto body = [](std::string_view of, std::string_view shape) {
    return Decide({.body = "  t = f32[8,8]{1,0} transpose(x), dimensions={1,0}\n"
                           "  w = f32[64]{0} bitcast(x)\n  h = f32[4,8]{1,0} slice(x), "
                           "slice={[0:4], [0:8]}\n  n = f32[8,8]{1,0} negate(x)\n"
                           "  r = " +
                           std::string(shape) + " reduce(" + std::string(of) +
                           ", none), dimensions={0}, to_apply=sum\n",
                   .result = "f32[8,8]{1,0}",
                   .other = std::string(shape),
                   .root = "n, r"});
  };
  EXPECT_EQ(body("x", "f32[8]{0}"), "safe");
  EXPECT_EQ(body("w", "f32[]"), "safe");
  EXPECT_EQ(body("t", "f32[8]{0}"), "clash");
  EXPECT_EQ(body("h", "f32[8]{0}"), "clash");
}
// A sum may be added up in its place, which nobody says: neither sound nor unsound.
TEST(Fusion, SumsOverWhatTheyAreMadeOf) {
  const auto body = [](std::string_view made) {
    return Decide({.x = "f32[8]{0}",
                   .body = "  b = f32[8,8]{1,0} broadcast(x), dimensions={0}\n"
                           "  c = f32[8,8]{1,0} broadcast(x), dimensions={1}\n"
                           "  m = f32[8,8]{1,0} multiply(" +
                           std::string(made) +
                           ", y)\n  ROOT r = f32[8]{0} reduce(m, none), dimensions={1}, "
                           "to_apply=sum\n",
                   .result = "f32[8]{0}",
                   .bytes = 32});
  };
  EXPECT_EQ(body("b"), "unknown");
  EXPECT_EQ(body("c"), "clash");
  EXPECT_EQ(body("y"), "safe");
}

TEST(Fusion, PaddingAndPieces) {
  EXPECT_EQ(Decide("  s = f32[6,8]{1,0} slice(x), slice={[1:7], [0:8]}\n"
                   "  ROOT p = f32[8,8]{1,0} pad(s, none), padding=1_1x0_0\n"),
            "safe");
  EXPECT_EQ(Decide("  s = f32[6,8]{1,0} slice(x), slice={[1:7], [0:8]}\n"
                   "  ROOT p = f32[8,8]{1,0} pad(s, none), padding=2_0x0_0\n"),
            "clash");
  EXPECT_EQ(Decide("  s = f32[4,8]{1,0} slice(x), slice={[0:8:2], [0:8]}\n"
                   "  ROOT p = f32[8,8]{1,0} pad(s, none), padding=0_1_1x0_0\n"),
            "safe");
  EXPECT_EQ(Decide("  s = f32[4,8]{1,0} slice(x), slice={[1:8:2], [0:8]}\n"
                   "  ROOT p = f32[8,8]{1,0} pad(s, none), padding=0_1_1x0_0\n"),
            "clash");
  const auto join = [](std::string_view order) {
    return Decide(
        "  a = f32[3,8]{1,0} slice(x), slice={[0:3], [0:8]}\n"
        "  b = f32[5,8]{1,0} slice(x), slice={[3:8], [0:8]}\n"
        "  ROOT c = f32[8,8]{1,0} concatenate(" +
        std::string(order) + "), dimensions={0}\n");
  };
  EXPECT_EQ(join("a, b"), "safe");
  EXPECT_EQ(join("b, a"), "clash");
}

// Tiles: what lies where is not the elements' order.
TEST(Fusion, TiledArrays) {
  // Tiles 2 x 2, each with 8 rows of 128.
  const auto body = [](std::string_view made) {
    return Decide({.x = "f32[16,256]{1,0:T(8,128)}",
                   .y = "f32[16,256]{1,0:T(8,128)}",
                   .body = "  b = f32[2,2,8,128]{3,2,1,0:T(8,128)} bitcast(x)\n"
                           "  n = f32[2,2,8,128]{3,2,1,0:T(8,128)} " +
                           std::string(made) +
                           "\n  ROOT r = f32[16,256]{1,0:T(8,128)} bitcast(n)\n",
                   .result = "f32[16,256]{1,0:T(8,128)}",
                   .bytes = 16384,
                   .target = "tpu-v5e"});
  };
  EXPECT_EQ(body("negate(b)"), "safe");
  EXPECT_EQ(body("reverse(b), dimensions={1}"), "clash");
  EXPECT_EQ(body("transpose(b), dimensions={1,0,2,3}"), "clash");
  // Elements (i, j) of both, which lie elsewhere.
  const auto copy = [](std::string_view layout) {
    return Decide({.x = "f32[16,256]{1,0:T(8,128)}",
                   .body = "  ROOT c = f32[16,256]" + std::string(layout) + " copy(x)\n",
                   .result = "f32[16,256]" + std::string(layout),
                   .bytes = 16384,
                   .target = "tpu-v5e"});
  };
  EXPECT_EQ(copy("{1,0:T(8,128)}"), "safe");
  EXPECT_EQ(copy("{1,0:T(4,128)}"), "clash");
  EXPECT_EQ(copy("{1,0}"), "clash");
  // What the tiles of a slice are is known from its place among all elements.
  const auto half = [](std::string_view slice) {
    return Decide({.x = "f32[16,256]{1,0:T(8,128)}",
                   .body = "  b = f32[2,2,8,128]{3,2,1,0:T(8,128)} bitcast(x)\n"
                           "  s = f32[2,1,8,128]{3,2,1,0:T(8,128)} slice(b), slice={[0:2], " +
                           std::string(slice) +
                           ", [0:8], [0:128]}\n"
                           "  u = f32[16,128]{1,0:T(8,128)} bitcast(s)\n"
                           "  v = f32[16,128]{1,0:T(8,128)} reverse(u), dimensions={0}\n"
                           "  ROOT r = f32[16,256]{1,0:T(8,128)} dynamic-update-slice(x, v, zero, "
                           "zero)\n",
                   .result = "f32[16,256]{1,0:T(8,128)}",
                   .bytes = 16384,
                   .target = "tpu-v5e"});
  };
  EXPECT_EQ(half("[1:2]"), "safe");
  EXPECT_EQ(half("[0:1]"), "clash");
}

// A block writes a tile of what is transposed elsewhere than one of what is beside it.
TEST(Fusion, OutputsBesideATransposition) {
  const auto both = [](std::string_view size, std::string_view root, std::string_view kind) {
    const std::string shape = "f32[" + std::string(size) + "]{1,0}";
    return Decide({.x = shape,
                   .y = shape,
                   .body = "  s = " + shape + " sine(x)\n  t = " + shape +
                           " transpose(y), dimensions={1,0}\n  m = " + shape +
                           " multiply(t, x)\n  n = " + shape + " negate(m)\n",
                   .result = shape,
                   .other = shape,
                   .root = std::string(root),
                   .bytes = 65536,
                   .target = "gpu",
                   .kind = std::string(kind)});
  };
  EXPECT_EQ(both("128,128", "s, m", "kInput"), "clash");
  EXPECT_EQ(both("128,128", "m, s", "kInput"), "clash");
  EXPECT_EQ(both("128,128", "n, m", "kInput"), "safe");
  EXPECT_EQ(both("128,128", "s, m", "kLoop"), "safe");
  EXPECT_EQ(both("32,32", "s, m", "kInput"), "unknown");
  EXPECT_EQ(both("128,128", "s, t", "kInput"), "safe");
}

// One loop writes both outputs tile by tile, whatever their dimensions are called.
TEST(Fusion, TiledOutputsThatABitcastTurns) {
  const auto both = [](std::string_view size, std::string_view other, std::string_view made) {
    const std::string shape = "f32" + std::string(size) + "{1,0:T(8,128)}";
    return Decide({.x = shape,
                   .y = shape,
                   .body = "  a = " + shape + " negate(x)\n  b = " + shape + " " +
                           std::string(made) + "\n  c = " + std::string(other) + " bitcast(b)\n",
                   .result = shape,
                   .other = std::string(other),
                   .root = "a, c",
                   .bytes = 20480,
                   .target = "tpu-v5e"});
  };
  EXPECT_EQ(both("[33,65]", "f32[65,33]{0,1:T(8,128)}", "add(x, y)"), "safe");
  EXPECT_EQ(both("[33,33]", "f32[33,33]{0,1:T(8,128)}", "add(x, y)"), "safe");
  EXPECT_EQ(both("[33,65]", "f32[65,33]{0,1:T(8,128)}", "reverse(x), dimensions={0}"), "clash");
  EXPECT_EQ(both("[33,33]", "f32[33,33]{0,1:T(8,128)}", "transpose(x), dimensions={1,0}"), "clash");
}

// An untiled array that a bitcast shows with tiles is as large as the tiles.
TEST(Fusion, ABitcastShowsPadding) {
  const auto program = [](std::string_view reader) {
    return R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[96,768]{0,1} parameter(0)
  q = f32[24576]{0:T(1024)} parameter(1)
  old = f32[24576]{0:T(1024)} negate(q)
  use = f32[24576]{0:T(1024)} exponential(old)
  made = f32[96,768]{0,1} negate(p)
  )" + std::string(reader) +
           R"(
  shown = f32[96,16,48]{0,2,1:T(8,128)} bitcast(made)
  last = f32[96,16,48]{0,2,1:T(8,128)} exponential(shown)
  ROOT both = (f32[24576]{0:T(1024)}, f32[96,16,48]{0,2,1:T(8,128)}) tuple(use, last)
}
)";
  };
  constexpr std::string_view kPlan =
      "p0 393216: p@0\np1 98304: q@0\nout 98304: use@0\nout 393216: last@0\nout 1024: both@0\n"
      "temp 393216: made@0 old@294912";
  EXPECT_EQ(Summary(CheckText(program(""), kPlan, "tpu-v5e")), "");
  // The padding is not free for others.
  EXPECT_EQ(Summary(CheckText(program("again = f32[24576]{0:T(1024)} negate(old)"),
                              std::string(kPlan) + "\ntemp 98304: again@0", "tpu-v5e")),
            "overwritten old made\n");
}

}  // namespace
}  // namespace stowplan::check
