// SPDX-License-Identifier: Apache-2.0
// Which positions bear values, their numbers, where they are seen and who reads them.
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "growth.h"
#include "unit/planning.h"
#include "values/value_flow.h"

namespace stowplan {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

// "<0 a>", ... : the values without where they are seen.
std::vector<std::string> ValuesOf(std::string_view text) {
  std::vector<std::string> values;
  for (const std::string& line : LinesOf(DumpOf(text, "values"))) {
    if (!line.starts_with(" ")) values.push_back(line);
  }
  return values;
}

std::vector<std::string> ValuesOfEntry(const std::string& lines) {
  return ValuesOf("HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[4] parameter(0)\n" + lines +
                  "}");
}

TEST(Positions, AreTheTreesInPreOrder) {
  const Program program = AnalyzeProgram(
      "HloModule m, is_scheduled=true\n"
      "ENTRY e {\n  a = (f32[2], (s32[], pred[]), f32[3]) parameter(0)\n"
      "  ROOT b = f32[2] get-tuple-element(a), index=0\n}");
  const Positions& positions = program.analysis.flow.positions;
  const hlo::ShapeId shape = program.module.instructions[program.Find("a")].shape;
  ASSERT_EQ(positions.count(program.Find("a")), 6U);
  EXPECT_EQ(positions.size(), 7U);
  const std::vector<std::vector<int64_t>> indices = {{}, {0}, {1}, {1, 0}, {1, 1}, {2}};
  for (uint32_t k = 0; k < indices.size(); ++k) {
    EXPECT_EQ(positions.Find(program.module.shapes, shape, indices[k]), k);
    std::vector<int64_t> index;
    positions.AppendIndex(program.module.shapes, shape, k, index);
    EXPECT_EQ(index, indices[k]);
  }
  EXPECT_EQ(positions.Find(program.module.shapes, shape, std::vector<int64_t>{3}),
            Positions::kNowhere);
  EXPECT_EQ(positions.Find(program.module.shapes, shape, std::vector<int64_t>{0, 0}),
            Positions::kNowhere);
  EXPECT_EQ(positions.Find(program.module.shapes, shape, std::vector<int64_t>{-1}),
            Positions::kNowhere);
  EXPECT_EQ(positions.Child(positions.top(program.Find("a")), 2),
            positions.At(program.Find("a"), 5));
}

TEST(Positions, TuplesThatNestWithoutEndAreRefused) {
  // A tree of 2^19 leaves, again and again: a short text, and far more positions than memory.
  std::string deep = "HloModule m, is_scheduled=true\nENTRY e {\n  p0 = f32[] parameter(0)\n";
  for (int i = 1; i < 20; ++i) {
    const std::string before = "p" + std::to_string(i - 1);
    deep += "  p" + std::to_string(i) + " = tuple(" + before + ", " + before + ")\n";
  }
  for (int i = 0; i < 2000; ++i) deep += "  c" + std::to_string(i) + " = copy(p19)\n";
  deep += "}";
  EXPECT_THAT(DumpOf(deep, "values"), HasSubstr("the tuples of the program, written out"));
}

TEST(Values, InstructionsBearAllThatTheyReturn) {
  EXPECT_THAT(ValuesOfEntry("  c = (f32[4], (s32[])) custom-call(p), custom_call_target=\"f\"\n"),
              ElementsAre("<0 p>", "<1 c{}>", "<2 c{0}>", "<3 c{1}>", "<4 c{1,0}>"));
}

TEST(Values, WhatHandsOnBearsNothing) {
  EXPECT_THAT(ValuesOfEntry(R"(
  t = (f32[4], f32[4]) tuple(p, p)
  c = (f32[4], f32[4]) copy(t)
  g = f32[4] get-tuple-element(c), index=1
  b = f32[2,2] bitcast(g)
  o = f32[2,2] opt-barrier(b)
)"),
              ElementsAre("<0 p>", "<1 t{}>", "<2 c{}>"));
}

TEST(Values, StartsBearTablesResultsAndContexts) {
  EXPECT_THAT(ValuesOfEntry(R"(
  s = (f32[4], f32[4], u32[]) copy-start(p)
  ROOT d = f32[4] copy-done(s)
)"),
              ElementsAre("<0 p>", "<1 s{}>", "<2 s{0}>", "<3 s{2}>"));
  EXPECT_THAT(ValuesOfEntry(R"(
  s = (f32[4], f32[4], u32[], u32[]) collective-permute-start(p), source_target_pairs={{0,1}}
  ROOT d = f32[4] collective-permute-done(s)
)"),
              ElementsAre("<0 p>", "<1 s{}>", "<2 s{1}>", "<3 s{2}>", "<4 s{3}>"));
  EXPECT_THAT(ValuesOfEntry(R"(
  s = (f32[4], f32[8]) all-gather-start(p), dimensions={0}, replica_groups={{0,1}}
  ROOT d = f32[8] all-gather-done(s)
)"),
              ElementsAre("<0 p>", "<1 s{}>", "<2 s{1}>"));
}

TEST(Values, AsyncResultsAreTheWrappedRoots) {
  const Program program = AnalyzeProgram(R"(HloModule async, is_scheduled=true
wrapped {
  wp = f32[4] parameter(0)
  ROOT wn = f32[4] negate(wp)
}
ENTRY e {
  a = f32[4] parameter(0)
  start = ((f32[4]), f32[4], u32[]) async-start(a), calls=wrapped
  ROOT done = f32[4] async-done(start)
})");
  EXPECT_EQ(program.Dump("values"),
            "<0 wn>\n"
            "  seen at start{1}\n"
            "  seen at done\n"
            "  read by done, operand 0, start{1}\n"
            "<1 a>\n"
            "  seen at wp\n"
            "  seen at start{0,0}\n"
            "  read by start, operand 0, a\n"
            "  read by wn, operand 0, wp\n"
            "  read by done, operand 0, start{0,0}\n"
            "<2 start{}>\n"
            "  read by done, operand 0, start{}\n"
            "<3 start{0}>\n"
            "  read by done, operand 0, start{0}\n"
            "<4 start{2}>\n"
            "  read by done, operand 0, start{2}\n");
}

TEST(Values, NumbersOfLoopsHaveGaps) {
  // The body bears 0 to 3, the condition 4 and 5, the entry 6 to 9. Tables meet first: 10 and 11.
  // Elements meet when the body is through: condition 12 to 14, body 15 to 17, loop 18 to 21. What
  // the body hands on as it is loses 14, 17 and 21.
  EXPECT_THAT(
      ValuesOf(kLoop),
      ElementsAre("<0 one>", "<1 bn>", "<2 bs>", "<3 bt{}>", "<4 ten>", "<5 lt>", "<6 zero>",
                  "<7 a>", "<8 c>", "<9 init{}>", "<10 cp{} (phi)>", "<11 bp{} (phi)>",
                  "<12 cp{0} (phi)>", "<13 cp{1} (phi)>", "<15 bp{0} (phi)>", "<16 bp{1} (phi)>",
                  "<18 w{} (phi)>", "<19 w{0} (phi)>", "<20 w{1} (phi)>"));
  const Program program = AnalyzeProgram(kLoop);
  EXPECT_EQ(program.analysis.flow.values.size(), 22U);
  for (const size_t gap : {14U, 17U, 21U})
    EXPECT_TRUE(program.analysis.flow.values[ValueId(gap)].is_gone) << gap;
  // The invariant is seen all over the loop.
  EXPECT_EQ(program.ValueAt("bc"), program.ValueAt("c"));
  EXPECT_EQ(program.ValueAt("w", {2}), program.ValueAt("c"));
  EXPECT_NE(program.ValueAt("w", {1}), program.ValueAt("a"));
}

TEST(Values, PositionsAndUsesStandInXlasOrder) {
  const std::string dump = DumpOf(kLoop, "values");
  // Positions by computation as listed; a table hands on, except as the root.
  EXPECT_THAT(dump, HasSubstr("<8 c>\n"
                              "  seen at bp{2}\n"
                              "  seen at bc\n"
                              "  seen at bt{2}\n"
                              "  seen at cp{2}\n"
                              "  seen at init{2}\n"
                              "  seen at w{2}\n"
                              "  read by bs, operand 1, bc\n"
                              "  read by bt, operand 2, bc\n"
                              "  read by w, operand 0, init{2}\n"));
  EXPECT_TRUE(dump.ends_with("<20 w{1} (phi)>\n  seen at out\n  read by out, operand 0, w{1}\n"))
      << dump;
}

TEST(Values, BranchesMeetInTheConditional) {
  constexpr std::string_view kText = R"(HloModule m, is_scheduled=true
yes {
  yp = f32[4] parameter(0)
  ROOT yn = f32[4] negate(yp)
}
no {
  ROOT np = f32[4] parameter(0)
}
ENTRY e {
  ok = pred[] parameter(0)
  a = f32[4] parameter(1)
  ROOT c = f32[4] conditional(ok, a, a), true_computation=yes, false_computation=no
})";
  EXPECT_THAT(ValuesOf(kText), ElementsAre("<0 yn>", "<1 ok>", "<2 a>", "<3 c (phi)>"));
  const Program program = AnalyzeProgram(kText);
  EXPECT_EQ(program.ValueAt("np"), program.ValueAt("a"));
  EXPECT_TRUE(program.analysis.flow.is_live_out(program.ValueAt("c")));
  EXPECT_FALSE(program.analysis.flow.is_live_out(program.ValueAt("a")));
}

TEST(Values, ACallAddsNothingOfItsOwn) {
  const Program program = AnalyzeProgram(R"(HloModule m, is_scheduled=true
f {
  fp = f32[4] parameter(0)
  ROOT fn = f32[4] negate(fp)
}
ENTRY e {
  a = f32[4] parameter(0)
  k = f32[4] call(a), to_apply=f
  ROOT s = f32[4] sine(k)
})");
  EXPECT_EQ(program.analysis.flow.values.size(), 3U);
  EXPECT_EQ(program.ValueAt("k"), program.ValueAt("fn"));
  EXPECT_EQ(program.ValueAt("fp"), program.ValueAt("a"));
}

TEST(Values, TwoCallersShareAComputationsParameter) {
  const Program program = AnalyzeProgram(R"(HloModule m, is_scheduled=true
f {
  fp = f32[4] parameter(0)
  ROOT fn = f32[4] negate(fp)
}
ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  k = f32[4] call(a), to_apply=f
  ROOT m = f32[4] call(b), to_apply=f
})");
  const ValueFlow& flow = program.analysis.flow;
  EXPECT_THAT(flow.at(flow.positions.top(program.Find("fp"))),
              ElementsAre(program.ValueAt("a"), program.ValueAt("b")));
}

TEST(Values, ManyCallersShareAComputationsParameter) {
  // The arguments come up one after another, and not by number.
  std::string lines = "  p = (f32[4]";
  for (int i = 1; i < 100; ++i) lines += ", f32[4]";
  lines += ") parameter(0)\n";
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    lines += "  g" + n + " = f32[4] get-tuple-element(p), index=" + std::to_string(99 - i) + "\n";
    lines += "  c" + n + " = f32[4] call(g" + n + "), to_apply=f\n";
  }
  const Program program = AnalyzeProgram(
      "HloModule m, is_scheduled=true\n"
      "f {\n  fp = f32[4] parameter(0)\n  fb = f32[2,2] bitcast(fp)\n"
      "  ROOT fn = f32[4] bitcast(fb)\n}\nENTRY e {\n" +
      lines + "}");
  const ValueFlow& flow = program.analysis.flow;
  std::vector<ValueId> all;
  for (int i = 0; i < 100; ++i) all.push_back(program.ValueAt("p", {i}));
  for (const char* name : {"fp", "fb", "fn", "c0", "c99"})
    EXPECT_THAT(flow.at(flow.positions.top(program.Find(name))), ElementsAreArray(all)) << name;
  EXPECT_EQ(flow.positions_of(all[0]).size(), 1U + 1U + 3U + 100U);
}

// Loops one after another, which share body and condition. {0} is always new, {1} never.
std::string LoopsOfOneBody(int count) {
  const std::string shape = "(f32[4], f32[4])";
  std::string text = "HloModule m, is_scheduled=true\nc {\n  cp = " + shape +
                     " parameter(0)\n  ROOT k = pred[] constant(true)\n}\nb {\n  bp = " + shape +
                     " parameter(0)\n  b0 = f32[4] get-tuple-element(bp), index=0\n"
                     "  n0 = f32[4] negate(b0)\n  b1 = f32[4] get-tuple-element(bp), index=1\n"
                     "  ROOT bt = " +
                     shape + " tuple(n0, b1)\n}\nENTRY e {\n  x = f32[4] parameter(0)\n" +
                     "  y = f32[4] parameter(1)\n  w0 = " + shape + " tuple(x, y)\n";
  for (int i = 1; i <= count; ++i)
    text += "  w" + std::to_string(i) + " = " + shape + " while(w" + std::to_string(i - 1) +
            "), condition=c, body=b\n";
  return text + "}";
}

TEST(Values, ManyLoopsShareABody) {
  for (const int count : {2, 200}) {
    const Program program = AnalyzeProgram(LoopsOfOneBody(count));
    const ValueFlow& flow = program.analysis.flow;
    const std::string last = "w" + std::to_string(count);
    // What the loops only hand on is one value; the others are phis where they meet.
    EXPECT_EQ(program.ValueAt(last, {1}), program.ValueAt("y"));
    EXPECT_EQ(program.ValueAt("bp", {1}), program.ValueAt("y"));
    for (const std::string& name :
         {last, std::string("w1"), std::string("bp"), std::string("cp")}) {
      const ValueId value = program.ValueAt(name, {0});
      EXPECT_TRUE(flow.values[value].is_phi) << name;
      EXPECT_EQ(flow.instruction(value), program.Find(name));
    }
    EXPECT_EQ(flow.positions_of(program.ValueAt("y")).size(), static_cast<size_t>(count) + 6);
  }
}

TEST(Values, ABranchThatIsNamedManyTimes) {
  std::string operands;
  std::string branches;
  for (int i = 0; i < 100; ++i) {
    operands += i % 2 == 0 ? ", x" : ", y";
    branches += i == 0 ? "f" : ", f";
  }
  const Program program = AnalyzeProgram(
      "HloModule m, is_scheduled=true\nf {\n  ROOT fp = f32[4] parameter(0)\n}\nENTRY e {\n"
      "  i = s32[] parameter(0)\n  x = f32[4] parameter(1)\n  y = f32[4] parameter(2)\n"
      "  ROOT r = f32[4] conditional(i" +
      operands + "), branch_computations={" + branches + "}\n}");
  const ValueFlow& flow = program.analysis.flow;
  EXPECT_TRUE(flow.values[program.ValueAt("fp")].is_phi);
  // The branches return one value: nothing meets.
  EXPECT_EQ(program.ValueAt("r"), program.ValueAt("fp"));
}

// A function, and an entry that begins.
std::string WithFunction(std::string_view function) {
  return "HloModule m, is_scheduled=true\n" + std::string(function) + "ENTRY e {\n";
}

constexpr std::string_view kNegate =
    "f {\n  fp = f32[4] parameter(0)\n  ROOT fn = f32[4] negate(fp)\n}\n";

std::string CallsInAChain(int count) {
  std::string text = WithFunction(kNegate) + "  c0 = f32[4] parameter(0)\n";
  for (int i = 1; i < count; ++i)
    text += fmt::format("  c{} = f32[4] call(c{}), to_apply=f\n", i, i - 1);
  return text + "}";
}

// Calls beside each other, each of another element of the argument.
std::string CallsOfElements(std::string_view function, int count) {
  std::string text = WithFunction(function) + "  p = (f32[4]";
  for (int i = 1; i < count; ++i) text += ", f32[4]";
  text += ") parameter(0)\n";
  for (int i = 0; i < count; ++i) {
    text += fmt::format("  g{0} = f32[4] get-tuple-element(p), index={0}\n", i);
    text += fmt::format("  c{0} = f32[4] call(g{0}), to_apply=f\n", i);
  }
  return text + "}";
}

std::string OneValueInTheResult(int count) {
  std::string text = WithFunction("") + "  b0 = f32[4] parameter(0)\n";
  std::string all = "b0";
  for (int i = 1; i < count; ++i) {
    text += fmt::format("  b{} = f32[4] bitcast(b{})\n", i, i - 1);
    all += fmt::format(", b{}", i);
  }
  return text + "  ROOT t = tuple(" + all + ")\n}";
}

TEST(Values, TimeIsLinear) {
  // What arrives at the loop grows with every call.
  constexpr std::string_view kLoop = R"(c {
  cp = f32[4] parameter(0)
  ROOT k = pred[] constant(true)
}
b {
  bp = f32[4] parameter(0)
  ROOT bn = f32[4] negate(bp)
}
f {
  fp = f32[4] parameter(0)
  ROOT fw = f32[4] while(fp), condition=c, body=b
}
)";
  const std::pair<const char*, std::function<std::string(int)>> cases[] = {
      {"calls one after another", CallsInAChain},
      {"calls beside each other", [&](int count) { return CallsOfElements(kNegate, count); }},
      {"a value many times in the result", OneValueInTheResult},
      {"loops of one body", LoopsOfOneBody},
      {"calls of a loop", [&](int count) { return CallsOfElements(kLoop, count); }},
  };
  for (const auto& [name, text_of] : cases) {
    const auto analyzing = [&](size_t count) -> std::function<void()> {
      return [text = text_of(static_cast<int>(count))] { AnalyzeProgram(text); };
    };
    EXPECT_TRUE(TimeIsLinear(analyzing, 50'000)) << name;
  }
}

}  // namespace
}  // namespace stowplan
