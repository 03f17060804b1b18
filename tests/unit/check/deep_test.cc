// SPDX-License-Identifier: Apache-2.0
// Programs that nest deep, that are long when each call has a computation of its own, or whose
// calls make no sense.
#include <gmock/gmock.h>

#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

using testing::HasSubstr;

std::string N(int i) { return std::to_string(i); }

// The findings, or the first error with its place.
std::string Check(const std::string& text, const std::string& plan) {
  const Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", text));
  if (!module) return Render(module.error());
  const Result<Verdict> verdict = CheckPlan(*module, PlanOf(plan), *FindTarget("cpu"));
  if (verdict) return Summary(*verdict);
  const Diagnostic& error = verdict.error()[0];
  return (error.line == 0 ? "" : N(static_cast<int>(error.line)) + ": ") + error.message;
}

// main calls f{depth}, which calls the next, ..., which calls f1.
std::string Calls(int depth) {
  std::string text =
      "HloModule m, is_scheduled=true\n"
      "f1 {\n"
      "  p1 = f32[4]{0} parameter(0)\n"
      "  a = f32[4]{0} negate(p1)\n"
      "  b = f32[4]{0} exponential(p1)\n"
      "  ROOT r = f32[4]{0} add(a, b)\n"
      "}\n";
  for (int i = 2; i <= depth; ++i) {
    text += (i == depth ? "ENTRY main" : "f" + N(i)) + " {\n  p" + N(i) +
            " = f32[4]{0} parameter(0)\n  ROOT r" + N(i) + " = f32[4]{0} call(p" + N(i) +
            "), to_apply=f" + N(i - 1) + "\n}\n";
  }
  return text;
}

TEST(CheckDeep, Calls) {
  for (const int depth : {2, 600, 10'000, 100'000}) {
    const std::string around = "p0 16: p" + N(depth) + "@0\nout 16: r@0\n";
    EXPECT_EQ(Check(Calls(depth), around + "temp 32: a@0 b@16"), "") << depth;
    EXPECT_EQ(Check(Calls(depth), around + "temp 32: a@0 b@8"), "overwritten a b\n") << depth;
  }
}

// A loop in a loop in a loop: the innermost body negates the state, in place or not.
std::string Loops(int depth) {
  std::string text =
      "HloModule m, is_scheduled=true\n"
      "c {\n  cp = f32[4]{0} parameter(0)\n  ROOT go = pred[] constant(true)\n}\n"
      "b1 {\n  p1 = f32[4]{0} parameter(0)\n  n = f32[4]{0} negate(p1)\n"
      "  ROOT r1 = f32[4]{0} exponential(n)\n}\n";
  for (int i = 2; i <= depth; ++i) {
    text += "b" + N(i) + " {\n  p" + N(i) + " = f32[4]{0} parameter(0)\n  ROOT r" + N(i) +
            " = f32[4]{0} while(p" + N(i) + "), condition=c, body=b" + N(i - 1) + "\n}\n";
  }
  return text +
         "ENTRY main {\n  p = f32[4]{0} parameter(0)\n  s = f32[4]{0} copy(p)\n"
         "  ROOT w = f32[4]{0} while(s), condition=c, body=b" +
         N(depth) + "\n}\n";
}

TEST(CheckDeep, Loops) {
  for (const int depth : {1, 600, 2000}) {
    const std::string around = "p0 16: p@0\nconst 1: go@0\nout 16: s@0 r1@0\n";
    EXPECT_EQ(Check(Loops(depth), around + "temp 16: n@0"), "") << depth;
  }
  // The body leaves the next state where nobody looks for it.
  EXPECT_THAT(Check(Loops(3), "p0 16: p@0\nconst 1: go@0\nout 16: s@0\ntemp 32: n@0 r1@16"),
              HasSubstr("overwritten"));
}

// A branch in a branch in a branch; all leave the result in one place, or one does not.
TEST(CheckDeep, Branches) {
  const auto check = [](int depth, const std::string& first) {
    std::string text =
        "HloModule m, is_scheduled=true\n"
        "f0 {\n  p0 = f32[4]{0} parameter(0)\n  ROOT r0 = f32[4]{0} negate(p0)\n}\n";
    std::string plan = "p0 16: p" + N(depth) + "@0\n";
    std::string out = "out 16:";
    for (int i = 1; i <= depth; ++i) {
      text += "g" + N(i) + " {\n  q" + N(i) + " = f32[4]{0} parameter(0)\n  ROOT o" + N(i) +
              " = f32[4]{0} exponential(q" + N(i) + ")\n}\n" +
              (i == depth ? "ENTRY main" : "f" + N(i)) + " {\n  p" + N(i) +
              " = f32[4]{0} parameter(0)\n  k" + N(i) + " = pred[] constant(true)\n  ROOT r" +
              N(i) + " = f32[4]{0} conditional(k" + N(i) + ", p" + N(i) + ", p" + N(i) +
              "), true_computation=f" + N(i - 1) + ", false_computation=g" + N(i) + "\n}\n";
      plan += "const 1: k" + N(i) + "@0\n";
      out += " o" + N(i) + "@0";
    }
    return Check(text, plan + out + first);
  };
  for (const int depth : {1, 1000}) {
    EXPECT_EQ(check(depth, " r0@0"), "") << depth;
    EXPECT_EQ(check(depth, "\ntemp 16: r0@0"), "output-changed r" + N(depth) + " r0\n") << depth;
  }
}

// What a body hands back through many calls is what it was: it may be read by its first name behind
// the loop.
TEST(CheckDeep, AStateHandedThroughManyCalls) {
  std::string text =
      "HloModule m, is_scheduled=true\n"
      "c {\n  cp = f32[4]{0} parameter(0)\n  ROOT go = pred[] constant(true)\n}\n"
      "f1 {\n  ROOT p1 = f32[4]{0} parameter(0)\n}\n";
  for (int i = 2; i <= 5000; ++i) {
    text += "f" + N(i) + " {\n  p" + N(i) + " = f32[4]{0} parameter(0)\n  ROOT r" + N(i) +
            " = f32[4]{0} call(p" + N(i) + "), to_apply=f" + N(i - 1) + "\n}\n";
  }
  text +=
      "ENTRY main {\n  p = f32[4]{0} parameter(0)\n  s = f32[4]{0} negate(p)\n"
      "  w = f32[4]{0} while(s), condition=c, body=f5000\n"
      "  ROOT r = f32[4]{0} add(s, w)\n}\n";
  EXPECT_EQ(Check(text, "p0 16: p@0\nconst 1: go@0\nout 16: r@0\ntemp 16: s@0"), "");
}

// Each computation calls the one before it twice.
std::string Doubling(int levels) {
  std::string text =
      "HloModule m, is_scheduled=true\n"
      "f1 {\n  p1 = f32[4]{0} parameter(0)\n  ROOT r1 = f32[4]{0} negate(p1)\n}\n";
  for (int i = 2; i <= levels; ++i) {
    text += (i == levels ? "ENTRY main" : "f" + N(i)) + " {\n  p" + N(i) +
            " = f32[4]{0} parameter(0)\n  q" + N(i) + " = f32[4]{0} call(p" + N(i) +
            "), to_apply=f" + N(i - 1) + "\n  ROOT r" + N(i) + " = f32[4]{0} call(q" + N(i) +
            "), to_apply=f" + N(i - 1) + "\n}\n";
  }
  return text;
}

TEST(CheckDeep, ACallIsExecutedEachTime) {
  const auto check = [](int levels) {
    return Check(Doubling(levels), "p0 16: p" + N(levels) + "@0\nout 16: r1@0");
  };
  // 2^15 negations, each over the one before it.
  EXPECT_EQ(check(16), "");
  EXPECT_EQ(check(40),
            "with a copy of each computation for every call, the program has 2748779069437 "
            "instructions; the limit is 16007616");
  EXPECT_THAT(check(100), HasSubstr("has more instructions than 64 bits can count; the limit is"));
}

// Loops of loops whose bodies write much: what each may write is looked at for each.
TEST(CheckDeep, LoopsThatWouldTakeTooLong) {
  EXPECT_THAT(Check(Loops(20'000), "p0 16: p@0\nconst 1: go@0\nout 16: s@0 r1@0\ntemp 16: n@0"),
              HasSubstr("steps"));
}

TEST(CheckDeep, CallsThatMakeNoSenseAreErrors) {
  const std::string head =
      "HloModule m, is_scheduled=true\n"
      "c {\n  cp = f32[4]{0} parameter(0)\n  ROOT go = pred[] constant(true)\n}\n"
      "f {\n  fp = f32[4]{0} parameter(0)\n  fq = f32[4]{0} parameter(1)\n"
      "  ROOT fr = f32[4]{0} add(fp, fq)\n}\n"
      "t {\n  tp = f32[4]{0} parameter(0)\n"
      "  ROOT tr = (f32[4]{0}, f32[4]{0}) tuple(tp, tp)\n}\n"
      "ENTRY main {\n  p = f32[4]{0} parameter(0)\n  k = pred[] constant(true)\n";
  const auto check = [&](const std::string& line) {
    return Check(head + "  ROOT r = f32[4]{0} " + line + "\n}\n",
                 "p0 16: p@0\nconst 1: k@0\nout 16: r@0");
  };
  EXPECT_EQ(check("while(p), condition=c, body=f"),
            "18: `r`: the body `f` has 2 parameters, but is given 1");
  EXPECT_THAT(check("while(p), condition=c, body=t"), HasSubstr("18: `r`: the result of the body"));
  EXPECT_THAT(check("while(p), condition=f, body=c"),
              HasSubstr("18: `r`: the condition `f` has 2"));
  EXPECT_THAT(check("conditional(k, p), true_computation=c, false_computation=c"),
              HasSubstr("18: `r`: "));
  EXPECT_THAT(check("call(p), to_apply=f"), HasSubstr("18: `r`: computation `f` has 2 parameters"));
}

}  // namespace
}  // namespace stowplan::check
