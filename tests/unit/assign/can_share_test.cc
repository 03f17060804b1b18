// SPDX-License-Identifier: Apache-2.0
// Who may write over an operand that dies: seen in where temporaries come to lie.
#include "assign/can_share.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "assign/elementwise.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

// Whether `user` may be born where its operand `operand` lies.
bool Shares(std::string_view text, std::string_view user, std::string_view operand,
            Sharing sharing = Sharing::kPlain, std::vector<int64_t> index = {},
            ShareRules::Planner planner = ShareRules::Planner::kXla) {
  const Program program = AnalyzeProgram(text);
  const Rules back_end = {.sharing = sharing};
  ShareRules rules(program.module, program.analysis, back_end, planner);
  return rules.CanShareAsOperand(program.ValueAt(user, std::move(index)), program.ValueAt(operand));
}

std::string InEntry(const std::string& lines, const std::string& before = {}) {
  return "HloModule m, is_scheduled=true\n" + before +
         "ENTRY e {\n  p = f32[8,16] parameter(0)\n  i = s32[] parameter(1)\n"
         "  x = f32[8,16] tan(p)\n" +
         lines + "}";
}

TEST(CanShare, ElementwiseInstructionsDo) {
  EXPECT_TRUE(Shares(InEntry("  ROOT y = f32[8,16] negate(x)\n"), "y", "x"));
  EXPECT_TRUE(Shares(InEntry("  ROOT y = f32[8,16] add(p, x)\n"), "y", "x"));
  // Another size, or another order.
  EXPECT_FALSE(Shares(InEntry("  ROOT y = bf16[8,16] convert(x)\n"), "y", "x"));
  EXPECT_FALSE(Shares(InEntry("  ROOT y = s32[8,16] bitcast-convert(x)\n"), "y", "x"));
  EXPECT_FALSE(Shares(InEntry("  y = f32[8,16] reverse(x), dimensions={1}\n"), "y", "x"));
  EXPECT_FALSE(Shares(InEntry("  ROOT y = f32[8,16] copy(x)\n"), "y", "x"));
}

// One of the two lists that it can search is the shorter one.
TEST(CanShare, FirstOperandOfManyOrByManyUsers) {
  const Program many =
      AnalyzeProgram(InEntry("  a = f32[8,16] negate(x)\n  b = f32[8,16] negate(x)\n"
                             "  ROOT y = f32[32,16] concatenate(p, a, x, a), dimensions={0}\n"));
  const auto first = [&](std::string_view user, std::string_view operand) {
    return FirstOperand(many.module, many.analysis.orders, many.Find(user), many.Find(operand));
  };
  EXPECT_EQ(first("y", "p"), 0U);
  EXPECT_EQ(first("y", "a"), 1U);
  EXPECT_EQ(first("y", "x"), 2U);
  EXPECT_EQ(first("y", "b"), 4U);
  EXPECT_EQ(first("a", "x"), 0U);
  EXPECT_EQ(first("a", "p"), 1U);
}

TEST(CanShare, ConstantsAreNeverOverwritten) {
  EXPECT_FALSE(Shares(InEntry("  c = f32[8,16] constant({...})\n  ROOT y = f32[8,16] negate(c)\n"),
                      "y", "c"));
}

TEST(CanShare, UpdatesOverTheirTargetOnly) {
  const std::string text =
      InEntry("  u = f32[8,16] sine(x)\n  ROOT y = f32[8,16] dynamic-update-slice(x, u, i, i)\n");
  EXPECT_TRUE(Shares(text, "y", "x"));
  EXPECT_FALSE(Shares(text, "y", "u"));
  EXPECT_FALSE(
      Shares(InEntry("  ROOT y = f32[8,16] custom-call(x), custom_call_target=\"f\"\n"), "y", "x"));
}

constexpr std::string_view kLess = R"(less {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  l2 = f32[] parameter(2)
  r2 = f32[] parameter(3)
  ROOT lt = pred[] compare(l, r), direction=LT
}
less1 {
  ll = f32[] parameter(0)
  lr = f32[] parameter(1)
  ROOT lt1 = pred[] compare(ll, lr), direction=LT
}
)";

TEST(CanShare, SortsOverTheSameOperand) {
  EXPECT_TRUE(Shares(
      InEntry("  ROOT y = f32[8,16] sort(x), dimensions={1}, to_apply=less1\n", std::string(kLess)),
      "y", "x"));
  const std::string text = InEntry(
      "  z = f32[8,16] sine(p)\n"
      "  ROOT y = (f32[8,16], f32[8,16]) sort(x, z), dimensions={1}, to_apply=less\n",
      std::string(kLess));
  EXPECT_TRUE(Shares(text, "y", "x", Sharing::kPlain, {0}));
  EXPECT_FALSE(Shares(text, "y", "x", Sharing::kPlain, {1}));
  EXPECT_TRUE(Shares(text, "y", "z", Sharing::kPlain, {1}));
}

TEST(CanShare, GpuFusionsThatSort) {
  const auto shares = [](const std::string& body) {
    return Shares(InEntry("  ROOT y = (f32[8,16], f32[8,16]) fusion(x, p), kind=kInput, calls=f\n",
                          std::string(kLess) +
                              "f {\n  a = f32[8,16] parameter(0)\n"
                              "  b = f32[8,16] parameter(1)\n" +
                              body + "}\n"),
                  "y", "x", Sharing::kGpu, {0});
  };
  const std::string sort = "(f32[8,16], f32[8,16]) sort(";
  const std::string how = "), dimensions={1}, to_apply=less\n";
  EXPECT_TRUE(shares("  ROOT s = " + sort + "a, b" + how));
  EXPECT_FALSE(shares("  ROOT s = " + sort + "b, a" + how));
  EXPECT_FALSE(shares("  ROOT s = " + sort + "a, a" + how));
  // The output is made of the sort, and is not the sort's.
  EXPECT_FALSE(shares("  s = " + sort + "a, b" + how +
                      "  g = f32[8,16] get-tuple-element(s), index=0\n"
                      "  n = f32[8,16] negate(g)\n"
                      "  ROOT t = (f32[8,16], f32[8,16]) tuple(n, b)\n"));
}

TEST(CanShare, CallsWhoseOnlyWorkIsElementwise) {
  const auto text = [](const std::string& body) {
    return InEntry("  ROOT y = f32[8,16] call(x), to_apply=f\n",
                   "f {\n  fp = f32[8,16] parameter(0)\n" + body + "}\n");
  };
  // The call's value is born at the callee's root, so ask for that one.
  const Program program = AnalyzeProgram(text("  ROOT fn = f32[8,16] negate(fp)\n"));
  EXPECT_EQ(program.ValueAt("y"), program.ValueAt("fn"));
  EXPECT_TRUE(Shares(text("  ROOT fn = f32[8,16] negate(fp)\n"), "y", "x"));
  EXPECT_FALSE(Shares(text("  ROOT fn = f32[8,16] reverse(fp), dimensions={0}\n"), "y", "x"));
}

std::string Fusion(const std::string& body, const std::string& shape,
                   const std::string& kind = "kLoop") {
  return InEntry("  ROOT y = " + shape + " fusion(x, i), kind=" + kind + ", calls=fused\n",
                 R"(add {
  al = f32[] parameter(0)
  ar = f32[] parameter(1)
  ROOT as = f32[] add(al, ar)
}
fused {
  fx = f32[8,16] parameter(0)
  fi = s32[] parameter(1)
)" + body + "}\n");
}

TEST(CanShare, LoopFusionsThatAreElementwiseOnEveryWay) {
  EXPECT_TRUE(
      Shares(Fusion("  n = f32[8,16] negate(fx)\n  ROOT s = f32[8,16] add(n, fx)\n", "f32[8,16]"),
             "y", "x"));
  const std::string with_bitcast = Fusion(
      "  n = f32[128] bitcast(fx)\n  m = f32[128] negate(n)\n  ROOT s = f32[8,16] bitcast(m)\n",
      "f32[8,16]");
  EXPECT_FALSE(Shares(with_bitcast, "y", "x"));
  EXPECT_TRUE(Shares(with_bitcast, "y", "x", Sharing::kGpu));
  const std::string with_reverse =
      Fusion("  n = f32[8,16] reverse(fx), dimensions={0}\n  ROOT s = f32[8,16] add(n, fx)\n",
             "f32[8,16]");
  EXPECT_FALSE(Shares(with_reverse, "y", "x"));
  EXPECT_FALSE(Shares(with_reverse, "y", "x", Sharing::kGpu));
}

TEST(CanShare, OutputFusionsOverTheSummand) {
  const std::string body =
      "  w = f32[16,16] constant({...})\n  d = f32[8,16] dot(fx, w), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n";
  EXPECT_FALSE(
      Shares(Fusion(body + "  ROOT s = f32[8,16] add(d, fx)\n", "f32[8,16]", "kOutput"), "y", "x"));
  const std::string summand =
      "  v = f32[8,16] constant({...})\n  w = f32[16,16] constant({...})\n  d = f32[8,16] dot(v, "
      "w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ROOT s = f32[8,16] add(d, fx)\n";
  EXPECT_TRUE(Shares(Fusion(summand, "f32[8,16]", "kOutput"), "y", "x"));
}

TEST(CanShare, GpuFusionsOverOtherShapesOfTheSameSize) {
  const std::string text =
      Fusion("  n = f32[8,16] negate(fx)\n  ROOT s = f32[128] bitcast(n)\n", "f32[128]");
  EXPECT_FALSE(Shares(text, "y", "x"));
  EXPECT_TRUE(Shares(text, "y", "x", Sharing::kGpu));
  // Twice as many bytes for each element: no.
  const std::string wider = Fusion("  ROOT s = f64[8,16] convert(fx)\n", "f64[8,16]");
  EXPECT_FALSE(Shares(wider, "y", "x", Sharing::kGpu));
}

TEST(CanShare, GpuFusionsMustReachTheOutput) {
  // The second output is made of nothing that x leads to.
  const std::string text = Fusion(
      "  n = f32[8,16] negate(fx)\n  b = f32[8,16] broadcast(fi), dimensions={}\n"
      "  c = f32[8,16] constant({...})\n"
      "  ROOT t = (f32[8,16], f32[8,16]) tuple(n, c)\n",
      "(f32[8,16], f32[8,16])");
  EXPECT_TRUE(Shares(text, "y", "x", Sharing::kGpu, {0}));
  EXPECT_FALSE(Shares(text, "y", "x", Sharing::kGpu, {1}));
}

// A fusion of x and q, which are `a` and `d` inside, with the outputs `b` and `c`.
std::string GpuPair(const std::string& body, const std::string& shapes,
                    const std::string& config = {}) {
  return "HloModule m, is_scheduled=true\n"
         "sum {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n"
         "  ROOT s = f32[] add(l, r)\n}\n"
         "f {\n  a = f32[64,64] parameter(0)\n  d = f32[64,64] parameter(1)\n" +
         body + "  ROOT t = " + shapes +
         " tuple(b, c)\n}\n"
         "ENTRY e {\n  p = f32[64,64] parameter(0)\n  q = f32[64,64] parameter(1)\n"
         "  x = f32[64,64] tan(p)\n  ROOT y = " +
         shapes + " fusion(x, q), kind=kLoop, calls=f" + config + "\n}";
}

TEST(CanShare, GpuTranspositionsInTilesKeepTheirOperands) {
  const std::string shapes = "(f32[64,64], f32[64,64])";
  const std::string double_a = "  b = f32[64,64] add(a, a)\n";
  const auto shares = [&](const std::string& body) {
    return Shares(GpuPair(double_a + body, shapes), "y", "x", Sharing::kGpu, {0});
  };
  EXPECT_TRUE(shares("  c = f32[64,64] add(a, d)\n"));
  const std::string turned = "  e = f32[64,64] transpose(d), dimensions={1,0}\n";
  EXPECT_FALSE(shares(turned + "  c = f32[64,64] add(a, e)\n"));
  // Behind a bitcast as well.
  EXPECT_FALSE(shares(turned + "  g = f32[64,64] bitcast(e)\n  c = f32[64,64] add(a, g)\n"));
}

TEST(CanShare, GpuReductionsReadEachElementOnce) {
  const std::string shapes = "(f32[64,64], f32[64])";
  const std::string body =
      "  b = f32[64,64] add(a, d)\n  z = f32[] constant(0)\n"
      "  c = f32[64] reduce(a, z), dimensions={1}, to_apply=sum\n";
  EXPECT_TRUE(Shares(GpuPair(body, shapes), "y", "x", Sharing::kGpu, {0}));
  // But not in kernels of their own.
  for (const std::string kind : {"__triton", "__cudnn$fusion", "__custom_fusion"}) {
    const std::string config =
        ", backend_config={\"fusion_backend_config\":{\"kind\":\"" + kind + "\"}}";
    EXPECT_FALSE(Shares(GpuPair(body, shapes, config), "y", "x", Sharing::kGpu, {0})) << kind;
  }
}

TEST(CanShare, TpuReduceFusionsOverTheirMapPart) {
  const std::string text = Fusion(
      "  n = f32[8,16] negate(fx)\n  z = f32[] constant(0)\n"
      "  r = f32[8] reduce(fx, z), dimensions={1}, to_apply=add\n"
      "  ROOT t = (f32[8,16], f32[8]) tuple(n, r)\n",
      "(f32[8,16], f32[8])", "kOutput");
  EXPECT_TRUE(Shares(text, "y", "x", Sharing::kTpu, {0}));
  EXPECT_FALSE(Shares(text, "y", "x", Sharing::kPlain, {0}));
  EXPECT_FALSE(Shares(text, "y", "x", Sharing::kTpu, {1}));
}

// A fusion of x, whose body makes its result of q; for TPUs.
std::string TpuFusion(const std::string& from, const std::string& to, const std::string& body,
                      const std::string& before = {}) {
  return "HloModule m, is_scheduled=true\n" + before + "f {\n  q = " + from + " parameter(0)\n" +
         body + "}\nENTRY e {\n  p = " + from + " parameter(0)\n  x = " + from +
         " tan(p)\n  ROOT y = " + to + " fusion(x), kind=kLoop, calls=f\n}";
}

bool SharesOnTpu(const std::string& text) { return Shares(text, "y", "x", Sharing::kTpu); }

// A fusion of the scalar x and of an array, whose body makes its result of q and w.
std::string TpuIndexed(const std::string& scalar, const std::string& to, const std::string& body) {
  return "HloModule m, is_scheduled=true\nadd {\n  al = f32[] parameter(0)\n"
         "  ar = f32[] parameter(1)\n  ROOT as = f32[] add(al, ar)\n}\nf {\n  q = " +
         scalar + " parameter(0)\n  w = f32[16]{0:T(128)} parameter(1)\n" + body +
         "}\nENTRY e {\n  p = " + scalar +
         " parameter(0)\n  a = f32[16]{0:T(128)} parameter(1)\n  x = " + scalar +
         " negate(p)\n  ROOT y = " + to + " fusion(x, a), kind=kLoop, calls=f\n}";
}

TEST(CanShare, TpuScalarsOverAnIndex) {
  const std::string index = "s32[]{:T(128)}";
  const std::string scalar = "f32[]{:T(128)}";
  const std::string sum =
      "  z = f32[]{:T(128)} constant(0)\n  d = f32[4]{0:T(128)} dynamic-slice(w, q), "
      "dynamic_slice_sizes={4}\n";
  const std::string r = "r = f32[]{:T(128)} reduce(d, z), dimensions={0}, to_apply=add\n";
  const std::string one = TpuIndexed(index, scalar, sum + "  ROOT " + r);
  EXPECT_TRUE(Shares(one, "y", "x", Sharing::kTpu));
  EXPECT_FALSE(Shares(one, "y", "x", Sharing::kPlain));
  EXPECT_FALSE(Shares(one, "y", "x", Sharing::kTpu, {}, ShareRules::Planner::kOurs));
  // Beside other outputs too.
  const std::string two =
      TpuIndexed(index, "(" + scalar + ", f32[4]{0:T(128)})",
                 sum + "  " + r + "  ROOT t = (f32[], f32[4]{0:T(128)}) tuple(r, d)\n");
  EXPECT_TRUE(Shares(two, "y", "x", Sharing::kTpu, {0}));
  EXPECT_FALSE(Shares(two, "y", "x", Sharing::kTpu, {1}));  // no scalar
  // Another width; other tiles; something else that reads the index; the sliced array itself.
  EXPECT_FALSE(Shares(TpuIndexed(index, "bf16[]{:T(128)}",
                                 sum + "  " + r + "  ROOT c = bf16[]{:T(128)} convert(r)\n"),
                      "y", "x", Sharing::kTpu));
  EXPECT_FALSE(
      Shares(TpuIndexed("s32[]{:T(256)}", scalar, sum + "  ROOT " + r), "y", "x", Sharing::kTpu));
  EXPECT_FALSE(Shares(TpuIndexed(index, scalar,
                                 sum + "  " + r +
                                     "  b = s32[4]{0:T(128)} broadcast(q), dimensions={}\n"
                                     "  v = s32[1]{0:T(128)} slice(b), slice={[0:1]}\n"
                                     "  u = s32[]{:T(128)} reshape(v)\n"
                                     "  c = f32[]{:T(128)} convert(u)\n"
                                     "  ROOT k = f32[]{:T(128)} add(r, c)\n"),
                      "y", "x", Sharing::kTpu));
  EXPECT_FALSE(SharesOnTpu(
      TpuFusion("f32[1]{0:T(128)}", "f32[1]{0:T(128)}",
                "  z = s32[] constant(0)\n"
                "  ROOT r = f32[1]{0:T(128)} dynamic-slice(q, z), dynamic_slice_sizes={1}\n")));
}

TEST(CanShare, TpuCopiesOfParametersToOtherMemoryStay) {
  const auto text = [](const std::string& space, const std::string& source) {
    return "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[8]{0} parameter(0)\n"
           "  x = f32[8]{0} tan(p)\n  c = f32[8]{0" +
           space + "} copy(" + source + ")\n  ROOT y = f32[8]{0" + space + "} negate(c)\n}";
  };
  EXPECT_TRUE(Shares(text(":S(6)", "p"), "y", "c"));
  EXPECT_FALSE(Shares(text(":S(6)", "p"), "y", "c", Sharing::kTpu));
  EXPECT_TRUE(Shares(text(":S(6)", "x"), "y", "c", Sharing::kTpu));
  EXPECT_TRUE(Shares(text("", "p"), "y", "c", Sharing::kTpu));
}

TEST(CanShare, AllReducesDifferByBackEnd) {
  const std::string text = InEntry(
      "  ROOT y = f32[8,16] all-reduce(x), replica_groups={}, to_apply=add\n",
      "add {\n  al = f32[] parameter(0)\n  ar = f32[] parameter(1)\n  ROOT as = f32[] add(al, "
      "ar)\n}\n");
  EXPECT_FALSE(Shares(text, "y", "x"));
  EXPECT_TRUE(Shares(text, "y", "x", Sharing::kGpu));
  EXPECT_TRUE(Shares(text, "y", "x", Sharing::kTpu));
}

// Each fusion calls the one before twice: 2^60 ways through.
std::string Doubled(const std::string& innermost) {
  std::string before =
      "f0 {\n  p0 = f32[8,16] parameter(0)\n  ROOT r0 = f32[8,16] " + innermost + "\n}\n";
  for (int i = 1; i <= 60; ++i) {
    const std::string n = std::to_string(i);
    const std::string calls = "), kind=kCustom, calls=f" + std::to_string(i - 1) + "\n";
    before += "f" + n + " {\n  p" + n + " = f32[8,16] parameter(0)\n  q" + n +
              " = f32[8,16] fusion(p" + n + calls + "  ROOT r" + n + " = f32[8,16] fusion(q" + n +
              calls + "}\n";
  }
  return InEntry("  ROOT y = f32[8,16] fusion(x), kind=kCustom, calls=f60\n", before);
}

// Dimensions of equal size that change places look alike from outside.
TEST(CanShare, NotThroughACopyToAnotherLayout) {
  const std::string from = "f32[4,4,128]{2,1,0:T(4,128)}";
  const std::string to = "f32[4,4,128]{2,0,1:T(4,128)}";
  EXPECT_FALSE(SharesOnTpu(
      TpuFusion(from, to, "  c = " + to + " copy(q)\n  ROOT r = " + to + " negate(c)\n")));
  // A bitcast moves nothing.
  EXPECT_TRUE(SharesOnTpu(
      TpuFusion(from, to, "  c = " + to + " bitcast(q)\n  ROOT r = " + to + " negate(c)\n")));
  // Neither before nor behind a bitcast, nor on one way of two, nor in a fusion inside.
  const std::string other = "f32[4,4,128]{2,1,0:T(4,128)}";
  EXPECT_FALSE(SharesOnTpu(TpuFusion(from, other,
                                     "  c = " + to + " copy(q)\n  b = " + other +
                                         " bitcast(c)\n  ROOT r = " + other + " negate(b)\n")));
  EXPECT_FALSE(SharesOnTpu(TpuFusion(
      from, to,
      "  b = " + to + " bitcast(q)\n  c = " + to + " copy(q)\n  ROOT r = " + to + " add(b, c)\n")));
  const std::string inner =
      "g {\n  h = " + from + " parameter(0)\n  ROOT k = " + to + " copy(h)\n}\n";
  EXPECT_FALSE(SharesOnTpu(TpuFusion(from, to,
                                     "  c = " + to +
                                         " fusion(q), kind=kLoop, calls=g\n"
                                         "  ROOT r = " +
                                         to + " negate(c)\n",
                                     inner)));
}

// The tiles of both are equal, but not what they pad.
TEST(CanShare, NotAcrossOtherPadding) {
  const std::string from = "f32[8,1,128]{2,1,0:T(8,128)}";
  EXPECT_FALSE(SharesOnTpu(TpuFusion(from, "f32[8,1,128]{2,0,1:T(8,128)}",
                                     "  ROOT r = f32[8,1,128]{2,0,1:T(8,128)} negate(q)\n")));
  // Outside the tiles, a dimension of size 1 may be anywhere.
  EXPECT_TRUE(
      SharesOnTpu(TpuFusion("f32[1,4,8,128]{3,2,1,0:T(8,128)}", "f32[1,4,8,128]{3,2,0,1:T(8,128)}",
                            "  ROOT r = f32[1,4,8,128]{3,2,0,1:T(8,128)} negate(q)\n")));
}

// What a bitcast counts by are tiles; a copy to others in front of it moves elements.
TEST(CanShare, NotThroughOtherTilesAndABitcast) {
  const std::string flat = "f32[2,4,128]{2,1,0:T(8,128)}";
  const auto body = [](const std::string& tiles) {
    return "  c = f32[2,4,128]{2,1,0:" + tiles + "} copy(q)\n  b = f32[4,2,128]{2,0,1:" + tiles +
           "} bitcast(c)\n  ROOT r = f32[4,2,128]{2,0,1:T(8,128)} negate(b)\n";
  };
  const std::string to = "f32[4,2,128]{2,0,1:T(8,128)}";
  EXPECT_TRUE(SharesOnTpu(TpuFusion(flat, to, body("T(8,128)"))));
  EXPECT_FALSE(SharesOnTpu(TpuFusion(flat, to, body("T(4,128)"))));
}

// XLA looks at the first operand only, and gives fusions none twice. Where it is up to us, whatever
// reads the same bytes counts.
TEST(CanShare, OursIsReadOnce) {
  const auto text = [](const std::string& operands) {
    return "HloModule m, is_scheduled=true\nf {\n  q = f32[8,8] parameter(0)\n"
           "  s = f32[8,8] parameter(1)\n  t = f32[8,8] reverse(s), dimensions={0}\n"
           "  ROOT r = f32[8,8] add(q, t)\n}\nENTRY e {\n  p = f32[8,8] parameter(0)\n"
           "  x = f32[8,8] tan(p)\n  b = f32[8,8] bitcast(x)\n"
           "  ROOT y = f32[8,8] fusion(" +
           operands + "), kind=kLoop, calls=f\n}";
  };
  const auto is_ours = [&](const std::string& operands) {
    return Shares(text(operands), "y", "x", Sharing::kTpu, {}, ShareRules::Planner::kOurs);
  };
  EXPECT_TRUE(is_ours("x, p"));
  EXPECT_FALSE(is_ours("x, x"));
  EXPECT_FALSE(is_ours("x, b"));
  EXPECT_TRUE(SharesOnTpu(text("x, x")));
}

TEST(Elementwise, FusionsOfFusionsAreLookedAtOnce) {
  EXPECT_TRUE(Shares(Doubled("negate(p0)"), "y", "x"));
  EXPECT_FALSE(Shares(Doubled("reverse(p0), dimensions={0}"), "y", "x"));
  for (const std::string_view innermost : {"negate(p0)", "reverse(p0), dimensions={0}"}) {
    const Program program = AnalyzeProgram(Doubled(std::string(innermost)));
    EXPECT_EQ(IsElementwise(program.module, program.Find("y")), innermost == "negate(p0)");
  }
}

TEST(Elementwise, ByOpcodeAndOperand) {
  const Program program =
      AnalyzeProgram(InEntry("  q = pred[8,16] compare(p, x), direction=LT\n"
                             "  u = f32[1,1] constant({{1}})\n"
                             "  d = f32[8,16] dynamic-update-slice(x, u, i, i)\n"
                             "  b = f32[8,16] broadcast(i), dimensions={}\n"
                             "  s = f32[8,16] select(q, d, x)\n"));
  const auto is_on = [&](std::string_view name, size_t k) {
    return IsElementwiseOn(program.module, program.analysis.orders, program.Find(name), k);
  };
  for (size_t k = 0; k < 3; ++k) EXPECT_TRUE(is_on("s", k)) << k;
  EXPECT_TRUE(is_on("d", 0));
  EXPECT_FALSE(is_on("d", 1));
  EXPECT_FALSE(IsElementwise(program.module, program.Find("d")));
  EXPECT_FALSE(IsElementwise(program.module, program.Find("b")));
  EXPECT_TRUE(IsElementwise(program.module, program.Find("q")));
  EXPECT_TRUE(IsElementwise(program.module, program.Find("u")));
}

}  // namespace
}  // namespace stowplan
