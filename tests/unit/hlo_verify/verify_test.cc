// SPDX-License-Identifier: Apache-2.0
#include "hlo/verify.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/parse.h"

namespace stowplan::hlo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Module Parse(std::string_view text) {
  Result<Module> module = ParseText(Source::FromBytes("test.hlo", text));
  EXPECT_TRUE(module.has_value()) << Render(module.error());
  return *std::move(module);
}

std::vector<std::string> Complaints(const Module& module) {
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : Verify(module)) messages.push_back(diagnostic.message);
  return messages;
}
std::vector<std::string> Complaints(std::string_view text) { return Complaints(Parse(text)); }

// `lines` as the body of the entry computation, behind two parameters.
std::vector<std::string> InEntry(const std::string& lines) {
  return Complaints("ENTRY e {\n  p = f32[4] parameter(0)\n  t = (f32[4], s32[]) parameter(1)\n" +
                    lines + "\n}");
}

TEST(Verify, TheRunningExampleIsFine) {
  EXPECT_THAT(Complaints(R"(
ENTRY main {
  p = f32[4]{0} parameter(0)
  add = f32[4]{0} add(p, p)
  ROOT mul = f32[4]{0} multiply(add, p)
})"),
              IsEmpty());
}

TEST(Verify, UpdatesInPlaceKeepTheShape) {
  const std::string update = "  i = s32[] constant(0)\n  u = f32[1] constant({1})\n";
  EXPECT_THAT(InEntry(update + "  d = f32[4] dynamic-update-slice(p, u, i)"), IsEmpty());
  EXPECT_THAT(InEntry(update + "  d = f32[8] dynamic-update-slice(p, u, i)"),
              ElementsAre(HasSubstr("differ: f32[8] and f32[4]")));
  EXPECT_THAT(InEntry("  d = f32[4] dynamic-update-slice(p)"),
              ElementsAre(HasSubstr("needs an operand, an update")));
}

TEST(Verify, PointsAtTheInstruction) {
  const Diagnostics complaints =
      Verify(Parse("ENTRY e {\n  p = (f32[4], s32[]) parameter(0)\n  ROOT x = f32[5] "
                   "get-tuple-element(p), index=0\n}"));
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(
      Render(complaints),
      "test.hlo:3:8: error: `x`: its shape and element 0 of its operand differ: f32[5] and f32[4]\n"
      "    ROOT x = f32[5] get-tuple-element(p), index=0\n"
      "         ^\n");
}

TEST(Verify, AllComplaintsComeInTheOrderOfTheInput) {
  const Diagnostics complaints = Verify(Parse(R"(
ENTRY e {
  p = (f32[4], s32[]) parameter(0)
  a = f32[5] get-tuple-element(p), index=0
  b = f32[4] get-tuple-element(p), index=7
  q = f32[4] parameter(3)
  ROOT c = f32[] copy(a)
})"));
  ASSERT_EQ(complaints.size(), 4U);
  EXPECT_EQ(complaints[0].line, 4U);
  EXPECT_EQ(complaints[1].line, 5U);
  EXPECT_EQ(complaints[2].line, 6U);
  EXPECT_EQ(complaints[3].line, 7U);
}

TEST(Verify, GetTupleElement) {
  EXPECT_THAT(InEntry("x = s32[] get-tuple-element(t), index=1"), IsEmpty());
  EXPECT_THAT(InEntry("x = s32[] get-tuple-element(t), index=2"),
              ElementsAre("`x`: there is no element 2 in a tuple of 2 elements"));
  EXPECT_THAT(InEntry("x = s32[] get-tuple-element(p), index=0"),
              ElementsAre("`x`: its operand is not a tuple but f32[4]"));
}

TEST(Verify, Tuple) {
  EXPECT_THAT(InEntry("x = (f32[4]{0:S(1)}, (f32[4], s32[])) tuple(p, t)"), IsEmpty())
      << "layouts may differ";
  EXPECT_THAT(InEntry("x = (f32[4], f32[4]) tuple(p)"),
              ElementsAre("`x`: its shape is a tuple of 2 elements, but it has 1 operand"));
  EXPECT_THAT(InEntry("x = (f32[4], (f32[4], s8[])) tuple(p, t)"),
              ElementsAre("`x`: its element 1 and operand `t` differ: s8[] and s32[] at {1}"));
}

TEST(Verify, OperandCounts) {
  EXPECT_THAT(InEntry("x = f32[4] add(p)"), ElementsAre("`x`: add takes 2 operands, this has 1"));
  EXPECT_THAT(InEntry("x = f32[4] copy(p, p)"),
              ElementsAre("`x`: copy takes 1 operand, this has 2"));
}

TEST(Verify, Parameters) {
  EXPECT_THAT(Complaints("ENTRY e {\n p = f32[] parameter(1)\n ROOT q = f32[] parameter(2)\n}"),
              ElementsAre("`p`: it is parameter 1, but there is no parameter 0"));
  EXPECT_THAT(Complaints("ENTRY e {\n p = f32[] parameter(0)\n ROOT q = f32[] parameter(0)\n}"),
              ElementsAre("`q`: another parameter has the number 0"));
}

std::string Loop(std::string_view state, std::string_view body_result, std::string_view answer) {
  const std::string s(state);
  return "body {\n  s = " + s + " parameter(0)\n  ROOT r = " + std::string(body_result) +
         " custom-call(s), custom_call_target=\"f\"\n}\ncond {\n  s = " + s +
         " parameter(0)\n  ROOT c = " + std::string(answer) +
         " custom-call(s), custom_call_target=\"g\"\n}\nENTRY e {\n  p = (f32[4], s32[]) "
         "parameter(0)\n"
         "  ROOT w = (f32[4], s32[]) while(p), condition=cond, body=body\n}";
}

TEST(Verify, While) {
  EXPECT_THAT(Complaints(Loop("(f32[4], s32[])", "(f32[4], s32[])", "pred[]")), IsEmpty());
  EXPECT_THAT(Complaints(Loop("(f32[4], s32[])", "(f32[5], s32[])", "pred[]")),
              ElementsAre("`w`: the result of the body `body` and what is expected of it differ: "
                          "f32[5] and f32[4] at {0}"));
  EXPECT_THAT(Complaints(Loop("(f32[4], s32[])", "(f32[4], s32[])", "s32[]")),
              ElementsAre("`w`: the condition `cond` does not return pred[] but s32[]"));
  EXPECT_THAT(Complaints(Loop("(f32[4], s8[])", "(f32[4], s32[])", "pred[]")),
              ElementsAre("`w`: parameter 0 of the condition `cond` and what it is given differ: "
                          "s8[] and s32[] at {1}",
                          "`w`: parameter 0 of the body `body` and what it is given differ: s8[] "
                          "and s32[] at {1}"));
}

std::string Branches(std::string_view selector, std::string_view rest) {
  return "a {\n  ROOT x = f32[4] parameter(0)\n}\nb {\n  ROOT x = f32[4] parameter(0)\n}\n"
         "ENTRY e {\n  s = " +
         std::string(selector) +
         " parameter(0)\n  p = f32[4] parameter(1)\n"
         "  q = f32[] parameter(2)\n  ROOT c = " +
         std::string(rest) + "\n}";
}

TEST(Verify, Conditional) {
  EXPECT_THAT(
      Complaints(Branches("pred[]",
                          "f32[4] conditional(s, p, p), true_computation=a, false_computation=b")),
      IsEmpty());
  EXPECT_THAT(
      Complaints(Branches("s32[]", "f32[4] conditional(s, p, p), branch_computations={a, b}")),
      IsEmpty());
  EXPECT_THAT(
      Complaints(Branches("f32[]", "f32[4] conditional(s, p, p), branch_computations={a, b}")),
      ElementsAre("`c`: it is selected by f32[], not by pred[] or s32[]"));
  EXPECT_THAT(Complaints(Branches("s32[]", "f32[4] conditional(s, p), branch_computations={a, b}")),
              ElementsAre("`c`: it has 2 branches, but operands for 1"));
  EXPECT_THAT(
      Complaints(Branches("s32[]", "f32[4] conditional(s, p, q), branch_computations={a, b}")),
      ElementsAre("`c`: parameter 0 of branch `b` and what it is given differ: f32[4] and f32[]"));
  EXPECT_THAT(
      Complaints(Branches("s32[]", "f32[] conditional(s, p, p), branch_computations={a, b}")),
      ElementsAre(
          "`c`: the result of branch `a` and what is expected of it differ: f32[4] and f32[]",
          "`c`: the result of branch `b` and what is expected of it differ: f32[4] and f32[]"));
}

TEST(Verify, CallAndFusion) {
  const std::string callee =
      "f {\n  x = f32[4] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = f32[4] negate(x)\n}\n";
  const std::string entry =
      "ENTRY e {\n  p = f32[4] parameter(0)\n  i = s32[] parameter(1)\n  ROOT c = ";
  EXPECT_THAT(Complaints(callee + entry + "f32[4] call(p, i), to_apply=f\n}"), IsEmpty());
  EXPECT_THAT(Complaints(callee + entry + "f32[4] fusion(p, i), kind=kLoop, calls=f\n}"),
              IsEmpty());
  EXPECT_THAT(Complaints(callee + entry + "f32[4] fusion(p), kind=kLoop, calls=f\n}"),
              ElementsAre("`c`: computation `f` has 2 parameters, but is given 1"));
  EXPECT_THAT(
      Complaints(callee + entry + "f32[4] call(i, p), to_apply=f\n}"),
      ElementsAre(
          "`c`: parameter 0 of computation `f` and what it is given differ: f32[4] and s32[]",
          "`c`: parameter 1 of computation `f` and what it is given differ: s32[] and f32[4]"));
  EXPECT_THAT(Complaints(callee + entry + "f32[5] call(p, i), to_apply=f\n}"),
              ElementsAre("`c`: the result of computation `f` and what is expected of it differ: "
                          "f32[4] and f32[5]"));
}

TEST(Verify, AsynchronousCopies) {
  EXPECT_THAT(InEntry("s = (f32[4], f32[4], u32[]) copy-start(p)\n  d = f32[4] copy-done(s)"),
              IsEmpty());
  EXPECT_THAT(InEntry("s = (f32[5], f32[4], u32[]) copy-start(p)\n  d = f32[4] copy-done(s)"),
              ElementsAre("`s`: its destination and operand differ: f32[5] and f32[4]",
                          "`d`: its shape and the result of `s` differ: f32[4] and f32[5]"));
  EXPECT_THAT(InEntry("s = f32[4] copy-start(p)"),
              ElementsAre("`s`: its shape is f32[4], not (destination, source, context)"));
}

TEST(Verify, AsyncOperations) {
  const std::string wrapped = "w {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}\n";
  const std::string entry = "ENTRY e {\n  p = f32[4] parameter(0)\n";
  EXPECT_THAT(Complaints(wrapped + entry +
                         "  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=w\n"
                         "  ROOT d = f32[4] async-done(s)\n}"),
              IsEmpty());
  EXPECT_THAT(
      Complaints(wrapped + entry +
                 "  s = ((f32[4]), f32[5], s32[]) async-start(p), calls=w\n"
                 "  ROOT d = f32[5] async-done(s)\n}"),
      ElementsAre(
          "`s`: the result of the wrapped computation `w` and what is expected of it differ: "
          "f32[4] and f32[5]"));
  EXPECT_THAT(
      Complaints(wrapped + entry +
                 "  s = ((f32[5]), f32[4], s32[]) async-start(p), calls=w\n"
                 "  ROOT d = f32[4] async-done(s)\n}"),
      ElementsAre("`s`: the first part of its shape does not hold the shapes of its operands"));
}

TEST(Verify, CallsInACircle) {
  // Text cannot say it, since callees come first; a program that builds modules can.
  Module module = Parse(R"(
a {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
}
b {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=a
}
ENTRY e {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=b
})");
  EXPECT_THAT(Complaints(module), IsEmpty());
  for (CompId& callee : module.called) callee = CompId(1);  // b calls itself
  EXPECT_THAT(Complaints(module), ElementsAre("computation `b`: it calls itself: `b` -> `b`"));
}

TEST(Verify, OperandsInACircleAndElsewhere) {
  Module module = Parse(R"(
a {
  x = f32[] parameter(0)
  ROOT y = f32[] negate(x)
}
ENTRY e {
  x = f32[] parameter(0)
  u = f32[] negate(x)
  v = f32[] negate(u)
  ROOT y = f32[] call(v), to_apply=a
})");
  const auto operand = [&](std::string_view name) -> InstrId& {
    for (size_t i = module.instructions.size(); i-- > 0;) {
      if (module.name(InstrId(i)) == name)
        return module.operands[module.instructions[InstrId(i)].operands.begin];
    }
    throw std::out_of_range("no such instruction");
  };
  const InstrId u = operand("v");
  const InstrId v = operand("y");
  operand("u") = v;
  EXPECT_THAT(Complaints(module), ElementsAre("`u`: it depends on itself: `u` -> `v` -> `u`"));
  operand("u") = u;
  EXPECT_THAT(Complaints(module), ElementsAre("`u`: it depends on itself: `u` -> `u`"));
  operand("u") = InstrId(0);
  EXPECT_THAT(Complaints(module), ElementsAre("`u`: operand `x` is of another computation"));
  operand("u") = InstrId(1000);
  EXPECT_THAT(Complaints(module), ElementsAre("`u`: an operand does not exist"));
}

constexpr std::string_view kScheduled = R"(
HloModule m, is_scheduled=true
ENTRY e {
  p = f32[] parameter(0)
  a = f32[] negate(p)
  b = f32[] negate(p), control-predecessors={a}
  ROOT c = f32[] add(a, b)
})";

// Writes the schedule of the entry computation anew, as rows of it.
Module Reschedule(std::vector<uint32_t> rows) {
  Module module = Parse(kScheduled);
  Computation& entry = module.computations[module.entry];
  entry.schedule = {static_cast<uint32_t>(module.instruction_pool.size()),
                    static_cast<uint32_t>(rows.size())};
  for (const uint32_t row : rows) module.instruction_pool.emplace_back(entry.first.index + row);
  return module;
}

TEST(Verify, Schedules) {
  EXPECT_THAT(Complaints(kScheduled), IsEmpty());
  EXPECT_THAT(Complaints(Reschedule({0, 1, 2, 3})), IsEmpty());
  EXPECT_THAT(Complaints(Reschedule({0, 2, 1, 3})),
              ElementsAre("`b`: the schedule runs it before its control predecessor `a`"));
  EXPECT_THAT(Complaints(Reschedule({1, 0, 2, 3})),
              ElementsAre("`a`: the schedule runs it before its operand `p`"));
  EXPECT_THAT(Complaints(Reschedule({0, 1, 3})), ElementsAre("`b`: the schedule does not hold it"));
  EXPECT_THAT(Complaints(Reschedule({0, 1, 1, 2, 3})),
              ElementsAre("`a`: the schedule holds it more than once"));
  EXPECT_THAT(
      Complaints(Reschedule({0, 1, 2, 3, 99})),
      ElementsAre("computation `e`: its schedule holds an instruction of another computation"));
  EXPECT_THAT(Complaints(Reschedule({})),
              ElementsAre("computation `e`: the module is scheduled, but this has no schedule"));
}

TEST(Verify, EntryLayout) {
  const std::string entry =
      "\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT q = f32[4] negate(p)\n}";
  EXPECT_THAT(Complaints("HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}" + entry),
              IsEmpty());
  EXPECT_THAT(Complaints("HloModule m, entry_computation_layout={(f32[5]{0})->f32[4]{0}}" + entry),
              ElementsAre("entry_computation_layout and parameter 0 differ: f32[5] and f32[4]"));
  EXPECT_THAT(Complaints("HloModule m, entry_computation_layout={(f32[4]{0})->f32[5]{0}}" + entry),
              ElementsAre("entry_computation_layout and the result differ: f32[5] and f32[4]"));
  EXPECT_THAT(
      Complaints("HloModule m, entry_computation_layout={()->f32[4]{0}}" + entry),
      ElementsAre("entry_computation_layout has 0 parameters, the entry computation has 1"));
}

TEST(Verify, InputOutputAliases) {
  const auto with = [](const std::string& header) {
    return Complaints(
        "HloModule m, " + header +
        "\nENTRY e {\n  p = f32[4] parameter(0)\n  q = (f32[2,2], s8[]) parameter(1)\n"
        "  x = f32[2,2] get-tuple-element(q), index=0\n  ROOT t = (f32[4], f32[2,2]) tuple(p, "
        "x)\n}");
  };
  EXPECT_THAT(with("input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, must-alias) }"),
              IsEmpty());
  EXPECT_THAT(with("input_output_alias={ {1}: (0, {}, may-alias) }"), IsEmpty())
      << "other shape, same size";
  EXPECT_THAT(
      with("input_output_alias={ {1}: (1, {1}, may-alias) }"),
      ElementsAre(
          "input_output_alias: parameter 1 {1} and output {1} differ in size: s8[] and f32[2,2]"));
  EXPECT_THAT(with("input_output_alias={ {2}: (0, {}, may-alias) }"),
              ElementsAre("input_output_alias: there is no output {2}"));
  EXPECT_THAT(with("input_output_alias={ {0}: (2, {}, may-alias) }"),
              ElementsAre("input_output_alias: there is no parameter 2"));
  EXPECT_THAT(with("input_output_alias={ {0}: (0, {1}, may-alias) }"),
              ElementsAre("input_output_alias: there is no part parameter 0 {1}"));
  EXPECT_THAT(with("input_output_alias={ {0}: (0, {}, may-alias), {1}: (0, {}, may-alias) }"),
              ElementsAre("input_output_alias gives away twice parameter 0 {}"));
  EXPECT_THAT(with("input_output_alias={ {0}: (0, {}, may-alias), {0}: (1, {0}, may-alias) }"),
              ElementsAre("input_output_alias names output {0} twice"));
  EXPECT_THAT(with("buffer_donor={ (0, {}), (1, {1}) }"), IsEmpty());
  EXPECT_THAT(with("buffer_donor={ (1, {2}) }"),
              ElementsAre("buffer_donor: there is no part parameter 1 {2}"));
  EXPECT_THAT(with("input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (0, {}) }"),
              ElementsAre("buffer_donor and input_output_alias give away twice parameter 0 {}"));
}

TEST(Verify, AliasesMayRelyOnPadding) {
  EXPECT_THAT(Complaints(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  p = bf16[256]{0:T(256)(128)(2,1)} parameter(0)
  ROOT c = f32[]{:T(128)} custom-call(p), custom_call_target="f"
})"),
              IsEmpty());
}

TEST(Verify, OutputToOperandAliasing) {
  const auto with = [](const std::string& aliasing) {
    return InEntry(
        "x = (f32[4], s32[]) custom-call(p, t), custom_call_target=\"f\", "
        "output_to_operand_aliasing={" +
        aliasing + "}");
  };
  EXPECT_THAT(with("{0}: (0, {}), {1}: (1, {1})"), IsEmpty());
  EXPECT_THAT(
      with("{1}: (0, {})"),
      ElementsAre(
          "`x`: output_to_operand_aliasing: output {1} and operand 0 differ: s32[] and f32[4]"));
  EXPECT_THAT(with("{5}: (0, {})"),
              ElementsAre("`x`: output_to_operand_aliasing: there is no output {5}"));
  EXPECT_THAT(with("{0}: (5, {})"),
              ElementsAre("`x`: output_to_operand_aliasing: there is no operand 5"));
  EXPECT_THAT(with("{0}: (1, {9})"),
              ElementsAre("`x`: output_to_operand_aliasing: operand 1 has no part {9}"));
  EXPECT_THAT(with("{0}: (0, {}), {0}: (1, {0})"),
              ElementsAre("`x`: output_to_operand_aliasing names output {0} twice"));
  EXPECT_THAT(
      with("{1}: (0, {})}, frontend_attributes={xla_skip_custom_call_alias_shape_check=\"1\""),
      IsEmpty());
}

TEST(Verify, SizesThatDoNotFit) {
  EXPECT_THAT(
      InEntry("x = (f32[9000000000,9000000000], s32[]) custom-call(p), custom_call_target=\"f\""),
      ElementsAre("`x`: f32[9000000000,9000000000]: the shape's size does not fit in 64 bits"));
}

// Names are unique in text; a proto may repeat them.
TEST(Verify, NamesTwice) {
  Module module = Parse(
      "a {\n  ROOT x = f32[] parameter(0)\n}\nENTRY e {\n  x = f32[] parameter(0)\n  y = f32[] "
      "negate(x)\n"
      "  ROOT z = f32[] call(y), to_apply=a\n}");
  module.instructions[InstrId(2)].name = module.instructions[InstrId(1)].name;
  EXPECT_THAT(Complaints(module),
              ElementsAre("`x`: another instruction of the computation has the same name"));
  module.computations[CompId(0)].name = module.computations[CompId(1)].name;
  EXPECT_THAT(Complaints(module),
              testing::Contains(HasSubstr("another computation has the same name")));
}

TEST(Verify, ProtosAreComplainedAboutByPath) {
  Module module = Parse(
      "ENTRY e {\n  t = (f32[]) parameter(0)\n  ROOT x = s32[] get-tuple-element(t), index=0\n}");
  module.format = Format::kProto;
  const Diagnostics complaints = Verify(module);
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_EQ(complaints[0].line, 0U);
  EXPECT_EQ(complaints[0].path, "computations[0].instructions[1]");
}

// Deep and wide inputs take no stack and no square of their size.
TEST(Verify, ALongChainIsQuick) {
  std::string text = "ENTRY e {\n  x0 = f32[] parameter(0)\n";
  for (int i = 1; i < 200'000; ++i) {
    text += "  x" + std::to_string(i) + " = f32[] negate(x" + std::to_string(i - 1) + ")\n";
  }
  Module module = Parse(text + "}");
  EXPECT_THAT(Complaints(module), IsEmpty());
  // Close the chain to a circle.
  Instruction& first = module.instructions[InstrId(0)];
  first.opcode = Opcode::kNegate;
  first.operands = {static_cast<uint32_t>(module.operands.size()), 1};
  module.operands.emplace_back(size_t{199'999});
  EXPECT_THAT(Complaints(module),
              ElementsAre(HasSubstr("it depends on itself: `x0` -> `x199999`")));
}

TEST(Verify, AHundredThousandComplaints) {
  std::string text = "ENTRY e {\n  t = (f32[]) parameter(0)\n";
  for (int i = 0; i < 100'000; ++i)
    text += "  x" + std::to_string(i) + " = s32[] get-tuple-element(t), index=0\n";
  EXPECT_EQ(Verify(Parse(text + "}")).size(), 100'000U);
}

// XLA's TPU compilers bind operands late.
TEST(Verify, AnAsyncUpdateMayAddOperands) {
  const std::string before =
      "w {\n  a = f32[4] parameter(0)\n  ROOT r = f32[4] negate(a)\n}\n"
      "ENTRY e {\n  p = f32[4] parameter(0)\n  q = f32[4] parameter(1)\n"
      "  s = ((f32[4]), f32[4], s32[]) async-start(p), calls=w\n";
  const std::string after = "  ROOT d = f32[4] async-done(u)\n}";
  EXPECT_THAT(
      Complaints(before + "  u = ((f32[4], f32[4]), f32[4], s32[]) async-update(s, q)\n" + after),
      IsEmpty());
  EXPECT_THAT(Complaints(before + "  u = ((f32[5]), f32[4], s32[]) async-update(s)\n" + after),
              ElementsAre(HasSubstr("differ")));
}

TEST(Verify, TheProgramIsFineWhateverTheHeaderSays) {
  const Module module = Parse(
      "HloModule m, entry_computation_layout={(f32[5])->f32[4]}\n"
      "ENTRY e {\n  ROOT p = f32[4] parameter(0)\n}");
  EXPECT_THAT(Complaints(module), ElementsAre(HasSubstr("entry_computation_layout")));
  EXPECT_THAT(VerifyProgram(module), IsEmpty());
}

}  // namespace
}  // namespace stowplan::hlo
