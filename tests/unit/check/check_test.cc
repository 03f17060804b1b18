// SPDX-License-Identifier: Apache-2.0
#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

constexpr std::string_view kChain = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3}
  b = f32[4]{0} exponential(p)
  c = f32[4]{0} add(a, b), metadata={op_name="jit(f)/add" source_file="f.py" source_line=5}
  ROOT r = f32[4]{0} multiply(c, c)
}
)";

TEST(Check, ASoundPlan) {
  const Verdict verdict = CheckText(kChain, "p0 16: p@0\nout 16: r@0\ntemp 32: a@0 b@16 c@0");
  EXPECT_TRUE(verdict.is_fine());
  EXPECT_EQ(verdict.instructions, 5);
}

TEST(Check, AValueIsWrittenOver) {
  const Verdict verdict = CheckText(kChain, "p0 16: p@0\nout 16: r@0\ntemp 32: a@0 b@8 c@0");
  ASSERT_EQ(Summary(verdict), "overwritten a b\nin-place b c\n");
  EXPECT_EQ(Describe(verdict.findings[0]),
            "unsound: overwritten: c reads a at 3, but finds b there\n"
            "  b writes bytes 8 to 16 of allocation 2 at 2\n"
            "  c needs a there at 3  (jit(f)/add, f.py:5)\n");
}

TEST(Check, ParametersThatAreNotDonatedStay) {
  EXPECT_EQ(Summary(CheckText(kChain, "p0 16: p@0 b@0\nout 16: r@0\ntemp 32: a@0 c@0")),
            "parameter-changed p b\n");
}

TEST(Check, ValuesEndWithinTheirAllocations) {
  EXPECT_EQ(Summary(CheckText(kChain, "p0 16: p@0\nout 16: r@0\ntemp 24: a@0 b@16 c@0")),
            "outside b \n");
}

TEST(Check, ValuesLieInTheirMemorySpaces) {
  EXPECT_EQ(Summary(CheckText(kChain, "p0 16: p@0\nout 16: r@0\ntemp/1 32: a@0 b@16 c@0")),
            "wrong-space a \nwrong-space b \nwrong-space c \n");
}

TEST(Check, ConstantsAreThereFromTheStartAndStay) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  k = f32[4]{0} constant({1, 2, 3, 4})
  ROOT r = f32[4]{0} add(a, k)
}
)";
  EXPECT_EQ(Summary(CheckText(kProgram, "p0 16: p@0\nout 16: r@0 a@0\nconst 16: k@0")), "");
  EXPECT_EQ(Summary(CheckText(kProgram, "p0 16: p@0\nout 16: r@0\nconst 16: k@0 a@0")),
            "overwritten k a\nconstant-changed k a\n");
}

// One array that is nothing but its slices, in the order of their starts.
TEST(Check, SlicesLieSideBySideInTheirArray) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[8]{0} parameter(0)
  high = f32[4]{0} slice(p), slice={[4:8]}
  low = f32[4]{0} slice(p), slice={[0:4]}
  w = f32[8]{0} custom-call(high, low), custom_call_target="ConcatBitcast"
  ROOT r = f32[8]{0} negate(w)
}
)";
  const std::string around = "p0 32: p@0\nout 32: r@0\n";
  EXPECT_EQ(Summary(CheckText(kProgram, around + "temp 32: low@0 high@16 w@0")), "");
  EXPECT_EQ(Summary(CheckText(kProgram, around + "temp 32: high@0 low@16 w@0")),
            "slices-apart low w\n");
  EXPECT_EQ(Summary(CheckText(kProgram, around + "temp 32: low@0 w@0\ntemp 16: high@0")),
            "slices-apart high w\n");
  EXPECT_EQ(Summary(CheckText(kProgram, around + "temp 48: low@0 high@16 w@16")),
            "slices-apart low w\n");
}

TEST(Check, OutputsLieOnWhatIsDonatedForThem) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true,
    input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  p = f32[4]{0} parameter(0)
  ROOT r = f32[4]{0} negate(p)
}
)";
  EXPECT_EQ(Summary(CheckText(kProgram, "p0 16: p@0 r@0")), "");
  EXPECT_EQ(Summary(CheckText(kProgram, "p0 16: p@0\nout 16: r@0")), "output-elsewhere r p\n");
}

constexpr std::string_view kLoop = R"(HloModule m, is_scheduled=true
body {
  s = (s32[], f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  t = f32[4]{0} exponential(x)
  y = f32[4]{0} add(t, x)
  ROOT out = (s32[], f32[4]{0}) tuple(j, y)
}
condition {
  s.1 = (s32[], f32[4]{0}) parameter(0)
  i.1 = s32[] get-tuple-element(s.1), index=0
  ten = s32[] constant(10)
  ROOT less = pred[] compare(i.1, ten), direction=LT
}
ENTRY main {
  p = f32[4]{0} parameter(0)
  zero = s32[] constant(0)
  i.2 = s32[] copy(zero)
  x.2 = f32[4]{0} negate(p)
  k = f32[4]{0} exponential(p)
  state = (s32[], f32[4]{0}) tuple(i.2, x.2)
  loop = (s32[], f32[4]{0}) while(state), condition=condition, body=body
  z = f32[4]{0} get-tuple-element(loop), index=1
  ROOT r = f32[4]{0} add(z, k)
}
)";
constexpr std::string_view kLoopPlan =
    "p0 16: p@0\nout 16: r@0\nconst 4: zero@0\nconst 4: one@0\nconst 4: ten@0\n"
    "temp 16: state@0 out@0\n";

TEST(Check, ALoopKeepsItsStateInOnePlace) {
  const std::string plan(kLoopPlan);
  EXPECT_EQ(Summary(CheckText(kLoop, plan + "temp 128: i.2@0 j@0 less@4 x.2@16 y@16 t@32 k@48")),
            "");
  // The next state is not where the loop looks for it.
  EXPECT_EQ(Summary(CheckText(kLoop, plan + "temp 128: i.2@0 j@0 less@4 x.2@16 y@80 t@32 k@48")),
            "overwritten loop{1} x.2\n");
}
TEST(Check, WhatALoopWritesIsLostToWhatIsReadAfterIt) {
  const std::string plan(kLoopPlan);
  EXPECT_EQ(Summary(CheckText(kLoop, plan + "temp 128: i.2@0 j@0 less@4 x.2@16 y@16 t@48 k@48")),
            "overwritten k t\n");
}
TEST(Check, WhatTheFirstIterationWritesTheSecondMustNotMiss) {
  // `one` in memory that the body writes later: there in the first iteration only.
  const std::string plan =
      "p0 16: p@0\nout 16: r@0\nconst 4: zero@0\nconst 4: ten@0\n"
      "temp 16: state@0 out@0\n"
      "const 4: one@0 less@0\n";
  EXPECT_EQ(Summary(CheckText(kLoop, plan + "temp 128: i.2@0 j@0 x.2@16 y@16 t@32 k@48")),
            "overwritten one less\nconstant-changed one less\n");
}

TEST(Check, BranchesLoseWhatEitherWrites) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
left {
  x = f32[4]{0} parameter(0)
  ROOT l = f32[4]{0} negate(x)
}
right {
  y = f32[4]{0} parameter(0)
  t = f32[4]{0} exponential(y)
  ROOT r = f32[4]{0} add(t, y)
}
ENTRY main {
  p = f32[4]{0} parameter(0)
  q = pred[] parameter(1)
  k = f32[4]{0} exponential(p)
  c = f32[4]{0} conditional(q, p, p), branch_computations={left, right}
  ROOT out = f32[4]{0} add(c, k)
}
)";
  const std::string plan = "p0 16: p@0\np1 1: q@0\nout 16: out@0\n";
  EXPECT_EQ(Summary(CheckText(kProgram, plan + "temp 64: k@0 l@16 r@16 c@16 t@32")), "");
  EXPECT_EQ(Summary(CheckText(kProgram, plan + "temp 64: k@0 l@16 r@16 c@16 t@0")),
            "overwritten k t\n");
  EXPECT_EQ(Summary(CheckText(kProgram, plan + "temp 64: k@0 l@16 r@48 c@16 t@32")),
            "overwritten c l\n");
}

TEST(Check, NothingTouchesACopyUnderWay) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  s = (f32[4]{0}, f32[4]{0}, u32[]) copy-start(a)
  b = f32[4]{0} exponential(p)
  d = f32[4]{0} copy-done(s)
  ROOT r = f32[4]{0} add(d, b)
}
)";
  const std::string plan = "p0 16: p@0\nout 16: r@0\n";
  const std::string rest = " s{0}@32 s{2}@48 s{}@64";
  EXPECT_EQ(Summary(CheckText(kProgram, plan + "temp 96: a@0 b@16" + rest)), "");
  EXPECT_EQ(Summary(CheckText(kProgram, plan + "temp 96: a@0 b@0" + rest)), "overwritten a b\n");
  EXPECT_EQ(Summary(CheckText(kProgram, plan + "temp 96: a@0 b@32" + rest)),
            "overwritten s{0} b\n");
}

// A done waits until the operation is over, and then writes its table of pointers: it may do so
// over what the operation has read, but not over what it made.
TEST(Check, ADoneWritesItsTableWhenTheOperationIsOver) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  b = f32[4]{0} exponential(p)
  s = ((f32[4]{0}, f32[4]{0}), (f32[8]{0}, f32[8]{0})) all-gather-start(a, b), dimensions={0}
  d = (f32[8]{0}, f32[8]{0}) all-gather-done(s)
  x = f32[8]{0} get-tuple-element(d), index=0
  y = f32[8]{0} get-tuple-element(d), index=1
  ROOT r = f32[8]{0} add(x, y)
}
)";
  const auto check = [&](const std::string& table) {
    return Summary(CheckText(kProgram,
                             "p0 16: p@0\nout 32: r@0\ntemp 192: a@0 b@16 s{1,0}@32 s{1,1}@64 "
                             "s{}@96 s{0}@112 s{1}@128 d{}@" +
                                 table));
  };
  EXPECT_EQ(check("144"), "");
  EXPECT_EQ(check("0"), "");
  EXPECT_EQ(check("8"), "");
  EXPECT_EQ(check("112"), "");  // the table of what was read
  EXPECT_EQ(check("32"), "overwritten s{1,0} d\n");
}

// The code of a custom fusion is made knowing which buffers overlap; what it makes of that, nobody
// here knows. Where it was not told, the plan is wrong.
TEST(Check, CodeThatIsToldOfAnOverlap) {
  const auto check = [](const std::string& kind, const std::string& lists) {
    const std::string program =
        R"(HloModule m, is_scheduled=true
f {
  fp = s32[16]{0} parameter(0)
  fq = s32[16]{0} parameter(1)
  fr = s32[16]{0} reverse(fp), dimensions={0}
  ROOT fs = s32[16]{0} add(fr, fq)
}
ENTRY main {
  p = s32[16]{0} parameter(0)
  a = s32[16]{0} negate(p)
  w = s32[16]{0} fusion(a, p), kind=)" +
        kind + R"(, calls=f, backend_config={"aliasing_operands":{"lists":[)" + lists + R"(]}}
  ROOT r = s32[16]{0} negate(w)
}
)";
    return CheckText(program, "p0 64: p@0\nout 64: r@0\ntemp 64: a@0 w@0");
  };
  const std::string right = R"({"indices":["0","2"]})";
  const Verdict verdict = check("kCustom", R"({"indices":["1","7"]},)" + right);
  EXPECT_EQ(Summary(verdict), "");
  EXPECT_FALSE(verdict.is_sound());
  EXPECT_EQ(verdict.doubt, "it is not known whether w may write w over a, which it reads");
  EXPECT_EQ(Summary(check("kLoop", right)), "in-place a w\n");
  EXPECT_EQ(Summary(check("kCustom", "")), "in-place a w\n");
  EXPECT_EQ(Summary(check("kCustom", R"({"indices":["1","2"]})")), "in-place a w\n");
  EXPECT_EQ(Summary(check("kCustom", R"({"indices":["0",["2"]]})")), "in-place a w\n");
}

TEST(Check, TablesLieOnEachOtherWhereTheCallDeclaresIt) {
  const auto check = [](const std::string& declared) {
    return Summary(CheckText(R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  b = f32[4]{0} exponential(p)
  t = (f32[4]{0}, f32[4]{0}) tuple(a, b)
  c = (f32[4]{0}, f32[4]{0}) custom-call(t), custom_call_target="f")" +
                                 declared + R"(
  ROOT r = f32[4]{0} get-tuple-element(c), index=0
}
)",
                             "p0 16: p@0\nout 16: c{0}@0\ntemp 16: a@0\ntemp 16: b@0\n"
                             "temp 16: t@0 c@0\ntemp 16: c{1}@0"));
  };
  EXPECT_EQ(check(", output_to_operand_aliasing={{}: (0, {})}"), "");
  EXPECT_EQ(check(", output_to_operand_aliasing={{0}: (0, {0})}"), "in-place t c\n");
  EXPECT_EQ(check(""), "in-place t c\n");
}

TEST(Check, PartsOfTheResultAreApart) {
  constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true
ENTRY main {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  b = f32[4]{0} exponential(p)
  ROOT r = (f32[4]{0}, f32[4]{0}) tuple(a, b)
}
)";
  EXPECT_EQ(Summary(CheckText(kProgram, "p0 16: p@0\nout 16: r@0\nout 16: a@0\nout 16: b@0")), "");
  EXPECT_EQ(Summary(CheckText(kProgram, "p0 16: p@0\nout 16: r@0\nout 16: a@0 b@0")),
            "output-changed a b\noutputs-share-bytes r{0} r{1}\n");
}

TEST(Check, AModuleWithoutOrderCannotBeChecked) {
  const Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", R"(HloModule m
ENTRY main {
  p = f32[4]{0} parameter(0)
  ROOT r = f32[4]{0} negate(p)
}
)"));
  ASSERT_TRUE(module.has_value());
  const Result<Verdict> verdict =
      CheckPlan(*module, PlanOf("p0 16: p@0\nout 16: r@0"), *FindTarget("cpu"));
  ASSERT_FALSE(verdict.has_value());
  EXPECT_EQ(verdict.error()[0].message, "the order of execution of main is not known");
}

// A collective that fusions go on with between its start and its done. What they hand on is not
// written: the source is read again behind them.
constexpr std::string_view kCollective = R"(HloModule m, is_scheduled=true

begin {
  p = f32[4]{0} parameter(0)
  g = f32[8]{0} all-gather(p), replica_groups={{0,1}}, dimensions={0}
  ROOT c = (f32[4]{0}, f32[8]{0}, u32[]) custom-call(g), custom_call_target="AsyncCollectiveStart"
}

on {
  x = f32[4]{0} parameter(3)
  y = f32[4]{0} negate(x)
  p1 = f32[4]{0} parameter(0)
  d1 = f32[8]{0} parameter(1)
  f1 = u32[] parameter(2)
  g1 = f32[8]{0} all-gather(p1), replica_groups={{0,1}}, dimensions={0}
  ROOT t = (f32[4]{0}, f32[4]{0}, f32[8]{0}, f32[8]{0}, u32[]) tuple(y, p1, d1, g1, f1)
}

end {
  p2 = f32[4]{0} parameter(0)
  d2 = f32[8]{0} parameter(1)
  f2 = u32[] parameter(2)
  g2 = f32[8]{0} all-gather(p2), replica_groups={{0,1}}, dimensions={0}
  ROOT c2 = f32[8]{0} custom-call(p2, d2, g2, f2), custom_call_target="AsyncCollectiveDone"
}

ENTRY main {
  q = f32[4]{0} parameter(0)
  w = f32[4]{0} negate(q)
  start = (f32[4]{0}, f32[8]{0}, u32[]) fusion(w), kind=kCustom, output_to_operand_aliasing={{0}: (0, {})}, calls=begin
  a0 = f32[4]{0} get-tuple-element(start), index=0
  a1 = f32[8]{0} get-tuple-element(start), index=1
  a2 = u32[] get-tuple-element(start), index=2
  mid = (f32[4]{0}, f32[4]{0}, f32[8]{0}, f32[8]{0}, u32[]) fusion(a0, a1, a2, w), kind=kOutput, output_to_operand_aliasing={{1}: (0, {}), {2}: (1, {}), {3}: (1, {}), {4}: (2, {})}, calls=on
  b0 = f32[4]{0} get-tuple-element(mid), index=1
  b1 = f32[8]{0} get-tuple-element(mid), index=2
  b2 = u32[] get-tuple-element(mid), index=4
  y0 = f32[4]{0} get-tuple-element(mid), index=0
  done = f32[8]{0} fusion(b0, b1, b2), kind=kCustom, output_to_operand_aliasing={{}: (1, {})}, calls=end
  s = f32[4]{0} add(w, y0)
  ROOT r = (f32[8]{0}, f32[4]{0}) tuple(done, s)
}
)";

TEST(Check, ACollectiveUnderWayIsHandedOn) {
  const std::string tables = "\ntemp 999: start@100 mid@200\nout 16: r@0";
  const std::string plan =
      "p0 16: q@0\nout 32: start{1}@0 mid{2}@0 mid{3}@0 done@0\n"
      "temp 99: w@0 start{0}@0 mid{1}@0 start{2}@32 mid{4}@32\nout 16: s@0";
  EXPECT_EQ(Summary(CheckText(kCollective, plan + "\ntemp 16: mid{0}@0" + tables)), "");
  // Its destination is written over while it is under way, and its source.
  EXPECT_EQ(Summary(CheckText(kCollective,
                              "p0 16: q@0\nout 32: start{1}@0 mid{2}@0 mid{3}@0 done@0 mid{0}@0\n"
                              "temp 99: w@0 start{0}@0 mid{1}@0 start{2}@32 mid{4}@32\n"
                              "out 16: s@0" +
                                  tables)),
            "in-place a1 mid{0}\noverwritten start{1} mid{0}\noverwritten mid{0} done\n");
  EXPECT_EQ(Summary(CheckText(kCollective,
                              "p0 16: q@0\nout 32: start{1}@0 mid{2}@0 mid{3}@0 done@0\n"
                              "temp 99: w@0 start{0}@0 mid{1}@0 start{2}@32 mid{4}@32 mid{0}@0\n"
                              "out 16: s@0" +
                                  tables)),
            "in-place a0 mid{0}\noverwritten w mid{0}\n");
}

}  // namespace
}  // namespace stowplan::check
