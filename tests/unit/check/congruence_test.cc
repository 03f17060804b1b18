// SPDX-License-Identifier: Apache-2.0
// Parts of loops' states that always hold the same may share bytes, and no others.
#include <cstddef>
#include <string>
#include <string_view>

#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

// A loop over (x, y), which are at first `first` (of s and u, two values) and then `next`, made by
// the lines of `body`. Both are read behind it. f and g return what they get.
std::string LoopOf(std::string_view first, std::string_view body, std::string_view next,
                   std::string_view more = "") {
  std::string text = R"(HloModule m, is_scheduled=true
f {
  ROOT fp = f32[4]{0} parameter(0)
}
g {
  ROOT gp = f32[4]{0} parameter(0)
}
c {
  cp = (f32[4]{0}, f32[4]{0}) parameter(0)
  ROOT go = pred[] constant(true)
}
)";
  text += more;
  text += R"(b {
  p = (f32[4]{0}, f32[4]{0}) parameter(0)
  x = f32[4]{0} get-tuple-element(p), index=0
  y = f32[4]{0} get-tuple-element(p), index=1
  k = pred[] constant(true)
)";
  text += body;
  text += "\n  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(" + std::string(next) + R"()
}
ENTRY main {
  a = f32[4]{0} parameter(0)
  s = f32[4]{0} negate(a)
  u = f32[4]{0} exponential(a)
  i = (f32[4]{0}, f32[4]{0}) tuple()" +
          std::string(first) + R"()
  w = (f32[4]{0}, f32[4]{0}) while(i), condition=c, body=b
  v = f32[4]{0} get-tuple-element(w), index=0
  z = f32[4]{0} get-tuple-element(w), index=1
  ROOT r = f32[4]{0} add(v, z)
}
)";
  return text;
}

// What lies where s and the state do; u is elsewhere.
std::string SummaryOf(const std::string& program, const std::string& there) {
  return Summary(CheckText(program,
                           "p0 16: a@0\nconst 1: go@0\nconst 1: k@0\nout 16: r@0\n"
                           "temp 16: u@0\ntemp 16: s@0 p{0}@0 p{1}@0 " +
                               there));
}

TEST(Congruence, ElementsThatChangePlaces) {
  EXPECT_EQ(SummaryOf(LoopOf("s, s", "", "y, x"), ""), "");
  EXPECT_EQ(SummaryOf(LoopOf("s, u", "", "y, x"), "").substr(0, 11), "overwritten");
  // Both are y in the end, but not from the start.
  EXPECT_EQ(SummaryOf(LoopOf("s, u", "", "y, y"), "").substr(0, 11), "overwritten");
}

TEST(Congruence, ABranchReturnsOneElementOrTheOther) {
  constexpr std::string_view kBody =
      "  n = f32[4]{0} conditional(k, x, y), true_computation=f, false_computation=g";
  EXPECT_EQ(SummaryOf(LoopOf("s, s", kBody, "n, y"), ""), "");
  EXPECT_EQ(SummaryOf(LoopOf("s, s", kBody, "y, n"), ""), "");
}

// The state is what it was before the loop, too.
TEST(Congruence, WhatBranchesHandBackDoesNotChange) {
  std::string program = LoopOf(
      "s, s", "  n = f32[4]{0} conditional(k, x, y), true_computation=f, false_computation=g",
      "n, y");
  const size_t at = program.find("add(v, z)");
  program.replace(at, 9, "add(v, s)");
  EXPECT_EQ(SummaryOf(program, ""), "");
  program = LoopOf("s, s", "  n = f32[4]{0} negate(x)", "n, n");
  program.replace(program.find("add(v, z)"), 9, "add(v, s)");
  EXPECT_EQ(SummaryOf(program, "n@0"), "overwritten s p{1}\n");
}

TEST(Congruence, ElementsThatChangeTogether) {
  EXPECT_EQ(SummaryOf(LoopOf("s, s", "  n = f32[4]{0} negate(x)", "n, n"), "n@0"), "");
  EXPECT_EQ(SummaryOf(LoopOf("s, s", "  n = f32[4]{0} negate(x)\n  m = f32[4]{0} copy(n)", "n, m"),
                      "n@0 m@0"),
            "");
  EXPECT_NE(
      SummaryOf(LoopOf("s, s", "  n = f32[4]{0} negate(x)\n  m = f32[4]{0} negate(n)", "n, m"),
                "n@0 m@0"),
      "");
  EXPECT_NE(SummaryOf(LoopOf("s, s", "  n = f32[4]{0} negate(x)", "n, y"), "n@0"), "");
  EXPECT_NE(SummaryOf(LoopOf("s, u", "  n = f32[4]{0} negate(x)", "n, n"), "n@0"), "");
}

// That the first branches return the same follows only if x and y are equal, and that they are only
// if the first branches return the same.
TEST(Congruence, EachFollowsFromTheOther) {
  constexpr std::string_view kBranches = R"(h {
  hp = (f32[4]{0}, f32[4]{0}) parameter(0)
  h0 = f32[4]{0} get-tuple-element(hp), index=0
  h1 = f32[4]{0} get-tuple-element(hp), index=1
  ROOT ht = (f32[4]{0}, f32[4]{0}) tuple(h0, h1)
}
e {
  ep = f32[4]{0} parameter(0)
  n = f32[4]{0} negate(ep)
  ROOT et = (f32[4]{0}, f32[4]{0}) tuple(n, n)
}
)";
  constexpr std::string_view kBody = R"(
  o = f32[4]{0} conditional(k, x, y), true_computation=f, false_computation=g
  ht2 = (f32[4]{0}, f32[4]{0}) tuple(o, y)
  d = (f32[4]{0}, f32[4]{0}) conditional(k, ht2, x), true_computation=h, false_computation=e
  d0 = f32[4]{0} get-tuple-element(d), index=0
  d1 = f32[4]{0} get-tuple-element(d), index=1)";
  EXPECT_EQ(SummaryOf(LoopOf("s, s", kBody, "d0, d1", kBranches), "n@0"), "");
  EXPECT_NE(SummaryOf(LoopOf("s, u", kBody, "d0, d1", kBranches), "n@0"), "");
}

// The inner loop keeps what it gets, which the outer one changes.
TEST(Congruence, ALoopThatKeepsWhatTheLoopAroundItChanges) {
  constexpr std::string_view kInner = R"(ic {
  icp = (f32[4]{0}, f32[4]{0}) parameter(0)
  ROOT igo = pred[] constant(true)
}
ib {
  ip = (f32[4]{0}, f32[4]{0}) parameter(0)
  i0 = f32[4]{0} get-tuple-element(ip), index=0
  i1 = f32[4]{0} get-tuple-element(ip), index=1
  ik = pred[] constant(true)
  in = f32[4]{0} conditional(ik, i0, i1), true_computation=f, false_computation=g
  ROOT it = (f32[4]{0}, f32[4]{0}) tuple(in, i0)
}
)";
  constexpr std::string_view kBody = R"(
  ii = (f32[4]{0}, f32[4]{0}) tuple(x, y)
  iw = (f32[4]{0}, f32[4]{0}) while(ii), condition=ic, body=ib
  w0 = f32[4]{0} get-tuple-element(iw), index=0
  w1 = f32[4]{0} get-tuple-element(iw), index=1
  q = f32[4]{0} add(w0, x)
  n = f32[4]{0} negate(q)
  m = f32[4]{0} copy(n))";
  const std::string rest = "n@0 m@0\ntemp 16: q@0\nconst 1: igo@0\nconst 1: ik@0";
  EXPECT_EQ(SummaryOf(LoopOf("s, s", kBody, "n, m", kInner), rest), "");
  EXPECT_NE(SummaryOf(LoopOf("s, s", kBody, "n, w1", kInner), rest), "");
}

TEST(Congruence, ThroughCallsBarriersAndBitcasts) {
  constexpr std::string_view kCallee = R"(e {
  ep = f32[4]{0} parameter(0)
  eq = f32[4]{0} parameter(1)
  ROOT et = (f32[4]{0}, f32[4]{0}) tuple(eq, ep)
}
)";
  constexpr std::string_view kBody = R"(
  d = (f32[4]{0}, f32[4]{0}) call(x, y), to_apply=e
  o = (f32[4]{0}, f32[4]{0}) opt-barrier(d)
  d0 = f32[4]{0} get-tuple-element(o), index=0
  d1 = f32[4]{0} get-tuple-element(o), index=1
  d2 = f32[4]{0} bitcast(d0))";
  EXPECT_EQ(SummaryOf(LoopOf("s, s", kBody, "d2, d1", kCallee), ""), "");
  EXPECT_NE(SummaryOf(LoopOf("s, u", kBody, "d2, d1", kCallee), ""), "");
}

// Equal constants are one value, too.
TEST(Congruence, AStateThatIsAlwaysOneConstant) {
  std::string program = LoopOf("s, s", "  n = f32[4]{0} constant({1, 2, 3, 4})", "n, n");
  program.replace(program.find("s = f32[4]{0} negate(a)"), 23,
                  "s = f32[4]{0} constant({1, 2, 3, 4})");
  EXPECT_EQ(SummaryOf(program, "n@0"), "");
}

// Elements that each hand what they are to the next one.
std::string Shift(int count) {
  std::string shape = "(f32[4]{0}";
  for (int k = 1; k < count; ++k) shape += ", f32[4]{0}";
  shape += ")";
  std::string text = "HloModule m, is_scheduled=true\nc {\n  cp = " + shape +
                     " parameter(0)\n  ROOT go = pred[] constant(true)\n}\nb {\n  p = " + shape +
                     " parameter(0)\n";
  for (int k = 0; k < count; ++k)
    text += "  x" + std::to_string(k) +
            " = f32[4]{0} get-tuple-element(p), index=" + std::to_string(k) + "\n";
  text += "  n = f32[4]{0} negate(x0)\n  ROOT t = " + shape + " tuple(";
  for (int k = 1; k < count; ++k) text += "x" + std::to_string(k) + ", ";
  text +=
      "n)\n}\nENTRY main {\n  a = f32[4]{0} parameter(0)\n  s = f32[4]{0} exponential(a)\n  i = " +
      shape + " tuple(s";
  for (int k = 1; k < count; ++k) text += ", s";
  return text + ")\n  w = " + shape +
         " while(i), condition=c, body=b\n  v = f32[4]{0} get-tuple-element(w), index=0\n"
         "  ROOT r = f32[4]{0} negate(v)\n}\n";
}

TEST(Congruence, AChainOfElements) {
  const auto check = [](int count) -> std::string {
    std::string plan = "p0 16: a@0\nconst 1: go@0\nout 16: r@0\ntemp 16: n@0 s@0";
    for (int k = 0; k < count; ++k) plan += " p{" + std::to_string(k) + "}@0";
    const Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", Shift(count)));
    const Result<Verdict> verdict = CheckPlan(*module, PlanOf(plan), *FindTarget("cpu"));
    return verdict ? Summary(*verdict) : verdict.error()[0].message;
  };
  EXPECT_EQ(check(1), "");
  EXPECT_EQ(check(2).substr(0, 11), "overwritten");
  EXPECT_EQ(check(500).substr(0, 11), "overwritten");
  // Too long a chain is neither sound nor unsound.
  EXPECT_EQ(check(10'000), "to find out which parts of its loops' states are equal takes too long");
}

}  // namespace
}  // namespace stowplan::check
