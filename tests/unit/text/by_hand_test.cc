// SPDX-License-Identifier: Apache-2.0
// HLO as people write it, and as XLA's documentation shows it.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

TEST(TextByHand, LongAndShortForm) {
  constexpr std::string_view kLong = R"(HloModule m

%f (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  ROOT %b = f32[2]{0} negate(%a)
}

ENTRY %main (x: f32[2], y: (f32[2], s32[])) -> (f32[2], s32[]) {
  %x = f32[2]{0} parameter(0)
  %y = (f32[2]{0}, s32[]) parameter(1)
  %c = f32[2]{0} call(%x), to_apply=%f
  %d = s32[] get-tuple-element(%y), index=1
  ROOT %r = (f32[2]{0}, s32[]) tuple(%c, %d), control-predecessors={%x}
}

)";
  EXPECT_EQ(Reprint(kLong), kLong);
  constexpr std::string_view kShortened = R"(HloModule m

f {
  a = f32[2]{0} parameter(0)
  ROOT b = f32[2]{0} negate(a)
}

ENTRY main {
  x = f32[2]{0} parameter(0)
  y = (f32[2]{0}, s32[]) parameter(1)
  c = f32[2]{0} call(x), to_apply=f
  d = s32[] get-tuple-element(y), index=1
  ROOT r = (f32[2]{0}, s32[]) tuple(c, d), control-predecessors={x}
}

)";
  EXPECT_EQ(Reprint(kShortened), kShortened);
  EXPECT_EQ(Reprint(kShortened, {}), kLong);
}

TEST(TextByHand, OperandShapes) {
  constexpr std::string_view kText = R"(HloModule m

ENTRY %e (a: f32[2], t: (f32[2], s32[])) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %t = (f32[2]{0}, s32[]) parameter(1)
  %g = f32[2]{0} get-tuple-element((f32[2]{0}, s32[]) %t), index=0
  ROOT %r = f32[2]{0} add(f32[2]{0} %a, f32[2]{0} %g)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

TEST(TextByHand, OperandComments) {
  constexpr std::string_view kText = R"(HloModule m

ENTRY %e (a: s1[]) -> (s1[], s1[], s1[], s1[], s1[], /*index=5*/s1[]) {
  %a = s1[] parameter(0)
  ROOT %r = (s1[], s1[], s1[], s1[], s1[], /*index=5*/s1[]) tuple(%a, %a, %a, %a, %a, /*index=5*/%a)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
  // Before 2021 there were none.
  std::string old(kText);
  for (size_t at = old.find("/*"); at != std::string::npos; at = old.find("/*")) old.erase(at, 11);
  EXPECT_EQ(Reprint(old), old);
}

TEST(TextByHand, RootsAndEntriesMayBeLeftOut) {
  EXPECT_EQ(
      Reprint("HloModule m\nf {\n a = f32[] parameter(0)\n}\ng {\n b = f32[] constant(1)\n"
              " ROOT c = f32[] constant(2)\n d = f32[] constant(3)\n}\n"),
      "HloModule m\n\nf {\n  ROOT a = f32[] parameter(0)\n}\n\nENTRY g {\n"
      "  b = f32[] constant(1)\n  ROOT c = f32[] constant(2)\n  d = f32[] constant(3)\n}\n\n");
}

TEST(TextByHand, InstructionsNeedNoLines) {
  EXPECT_EQ(Reprint("HloModule m ENTRY e{a=f32[]constant(1)b=f32[]negate(a)ROOT c=f32[]add(a,b)}"),
            "HloModule m\n\nENTRY e {\n  a = f32[] constant(1)\n  b = f32[] negate(a)\n"
            "  ROOT c = f32[] add(a, b)\n}\n\n");
}

TEST(TextByHand, Comments) {
  EXPECT_EQ(Reprint("// head\nHloModule /* a * / */ m // b\n/**/ENTRY/*c*/e/*d*/{//e\r"
                    "ROOT /* ROOT */ a /* = */ = /**/ f32[] /**/ constant /**/ ( /**/ 1 /**/ ) "
                    "/**/ , /**/ metadata={op_name=\"/*kept*/ // too\"}\n}//"),
            "HloModule m\n\nENTRY e {\n"
            "  ROOT a = f32[] constant(1), metadata={op_name=\"/*kept*/ // too\"}\n}\n\n");
}

TEST(TextByHand, NamesMayBeAnything) {
  constexpr std::string_view kText = R"(HloModule HloModule

ENTRY ENTRY {
  add = f32[] parameter(0)
  f32 = f32[] negate(add)
  parameter.1 = f32[] add(f32, add)
  _x-1.2 = f32[] add(parameter.1, f32)
  constant = f32[] constant(1)
  true = f32[] copy(constant)
  nan = f32[] copy(true)
  ROOT ROOT = f32[] multiply(_x-1.2, nan)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

TEST(TextByHand, NestedInstructions) {
  EXPECT_EQ(Reprint("HloModule m ENTRY e { x = f32[2] parameter(0)\n"
                    "ROOT r = f32[2] add(multiply(x, f32[2] negate(x)), f32[2] broadcast(f32[] "
                    "constant(1)), dimensions={}) }"),
            "HloModule m\n\nENTRY e {\n  x = f32[2] parameter(0)\n  negate = f32[2] negate(x)\n"
            "  multiply = f32[2] multiply(x, negate)\n  constant = f32[] constant(1)\n"
            "  broadcast = f32[2] broadcast(constant), dimensions={}\n"
            "  ROOT r = f32[2] add(multiply, broadcast)\n}\n\n");
}

TEST(TextByHand, NestedInstructionsHaveNamesOfTheirOwn) {
  const std::string once = Reprint(
      "ENTRY e {\n  x = f32[] parameter(0)\n  a = f32[] negate(negate(negate(x)))\n"
      "  negate = f32[] abs(a)\n  ROOT r = f32[] add(negate(x), negate)\n}\n");
  EXPECT_EQ(Reprint(once), once);
}

TEST(TextByHand, NestingHasALimit) {
  std::string deep = "x";
  for (int i = 0; i < 60; ++i) deep = "negate(" + deep + ")";
  const std::string head = "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT r = f32[] copy(";
  EXPECT_TRUE(Parse(head + deep + ")\n}\n"));
  for (int i = 0; i < 10; ++i) deep = "negate(" + deep + ")";
  const auto module = Parse(head + deep + ")\n}\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error()[0].message, "instructions are nested too deep");
}

TEST(TextByHand, BodiesInPlaceOfNames) {
  EXPECT_EQ(Reprint(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  c = s32[] constant(0)
  z = f32[] constant(0)
  r = f32[] reduce(x, z), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT s = f32[] add(a, b)
  }, metadata={op_name="r"}
  ROOT k = f32[] conditional(c, r, r), branch_computations={{ ROOT p = f32[] parameter(0) }, {
    q = f32[] parameter(0)
    ROOT n = f32[] call(q), to_apply={ ROOT v = f32[] parameter(0) }
  }}
}
)"),
            R"(HloModule m

computation.1 {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

computation.2 {
  ROOT p = f32[] parameter(0)
}

computation.4 {
  ROOT v = f32[] parameter(0)
}

computation.3 {
  q = f32[] parameter(0)
  ROOT n = f32[] call(q), to_apply=computation.4
}

ENTRY e {
  x = f32[4] parameter(0)
  c = s32[] constant(0)
  z = f32[] constant(0)
  r = f32[] reduce(x, z), dimensions={0}, to_apply=computation.1, metadata={op_name="r"}
  ROOT k = f32[] conditional(c, r, r), branch_computations={computation.2, computation.3}
}

)");
}

TEST(TextByHand, MadeUpNamesOfComputationsAreNew) {
  const std::string once = Reprint(
      "HloModule m\ncomputation.2 {\n  ROOT p = f32[] parameter(0)\n}\n"
      "computation.1 {\n  ROOT q = f32[] parameter(0)\n}\n"
      "ENTRY e {\n  x = f32[] parameter(0)\n  y = f32[] call(x), to_apply=computation.1\n"
      "  ROOT r = f32[] call(y), to_apply={ ROOT v = f32[] parameter(0) }\n}\n");
  EXPECT_EQ(Reprint(once), once);
}

TEST(TextByHand, OneInstruction) {
  constexpr std::string_view kExpected =
      "HloModule module_entry\n\nENTRY entry {\n  a = f32[2]{0} parameter(0)\n"
      "  b = f32[2]{0} parameter(1)\n  ROOT x = f32[2]{0} add(f32[2]{0} a, f32[2]{0} b)\n}\n\n";
  EXPECT_EQ(Reprint("%x = f32[2]{0} add(f32[2]{0} %a, f32[2]{0} %b)"), kExpected);
  EXPECT_EQ(Reprint("ROOT x = f32[2]{0} add(f32[2]{0} a, f32[2]{0} b)"), kExpected);
  EXPECT_EQ(Reprint("f32[2]{0} add(f32[2]{0} a, f32[2]{0} a)"),
            "HloModule module_entry\n\nENTRY entry {\n  a = f32[2]{0} parameter(0)\n"
            "  ROOT add = f32[2]{0} add(f32[2]{0} a, f32[2]{0} a)\n}\n\n");
  EXPECT_EQ(Reprint("f32[2]{0} add(f32[2]{0}, f32[2]{0})"),
            "HloModule module_entry\n\nENTRY entry {\n  param_0 = f32[2]{0} parameter(0)\n"
            "  param_1 = f32[2]{0} parameter(1)\n"
            "  ROOT add = f32[2]{0} add(param_0, param_1)\n}\n\n");
}

TEST(TextByHand, InstructionsAlone) {
  EXPECT_EQ(Reprint("a = f32[] constant(1)\nb = f32[] negate(a)\n"),
            "HloModule module_entry\n\nENTRY entry {\n  a = f32[] constant(1)\n"
            "  ROOT b = f32[] negate(a)\n}\n\n");
  EXPECT_EQ(Reprint("ROOT a = f32[] constant(1)\nb = f32[] negate(a)\n"),
            "HloModule module_entry\n\nENTRY entry {\n  ROOT a = f32[] constant(1)\n"
            "  b = f32[] negate(a)\n}\n\n");
}

TEST(TextByHand, ExecutionThreads) {
  constexpr std::string_view kText = R"(HloModule m

f {
  ROOT a = f32[] parameter(0)
}, execution_thread="host"

ENTRY e {
  ROOT b = f32[] parameter(0)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
  const auto module = Parse(kText);
  EXPECT_EQ(module->view(module->computations[hlo::CompId(size_t{0})].execution_thread), "host");
  EXPECT_EQ(Reprint("ENTRY e { ROOT b = f32[] parameter(0) } , execution_thread = \"main\""),
            "HloModule module_e\n\nENTRY e {\n  ROOT b = f32[] parameter(0)\n}\n\n");
}

TEST(TextByHand, ClosingNames) {
  constexpr std::string_view kText = R"(HloModule m

five {
  a = f32[] parameter(0)
  b = f32[] negate(a)
  c = f32[] negate(b)
  d = f32[] negate(c)
  ROOT f = f32[] negate(d)
}

ENTRY six {
  a.1 = f32[] parameter(0)
  b.1 = f32[] negate(a.1)
  c.1 = f32[] negate(b.1)
  d.1 = f32[] negate(c.1)
  e.1 = f32[] negate(d.1)
  ROOT f.1 = f32[] negate(e.1)
} // six

)";
  EXPECT_EQ(Reprint(kText), kText);
}

// XLA prints a condition that two loops share behind the body of the outer one.
constexpr std::string_view kBehindCaller = R"(HloModule m

%inner (p.1: (s32[])) -> (s32[]) {
  ROOT %p.1 = (s32[]) parameter(0)
}

%outer (p.2: (s32[])) -> (s32[]) {
  %p.2 = (s32[]) parameter(0)
  ROOT %w.1 = (s32[]) while(%p.2), condition=%cond, body=%inner
}

%cond (p.3: (s32[])) -> pred[] {
  %p.3 = (s32[]) parameter(0)
  ROOT %c = pred[] constant(true)
}

ENTRY %main (p.4: (s32[])) -> (s32[]) {
  %p.4 = (s32[]) parameter(0)
  ROOT %w.2 = (s32[]) while(%p.4), condition=%cond, body=%outer
}

)";

TEST(TextByHand, ComputationsMayStandBehindTheirCallers) {
  EXPECT_EQ(Reprint(kBehindCaller), kBehindCaller);
  const auto module = Parse(kBehindCaller);
  ASSERT_TRUE(module) << Render(module.error());
  EXPECT_EQ(module->name(module->entry), "main");
  for (size_t i = 0; i < module->instructions.size(); ++i) {
    const hlo::InstrId id(i);
    for (const hlo::CompId callee : module->called_by(id))
      EXPECT_LT(callee, module->instructions[id].parent) << module->name(id);
  }
  // The first in the file may be the entry, with bodies written in place.
  constexpr std::string_view kEntryFirst =
      "HloModule m\nENTRY e {\n a = f32[] parameter(0)\n b = f32[] call(a), to_apply={\n"
      " c = f32[] parameter(0)\n ROOT d = f32[] call(c), to_apply=f\n }\n"
      " ROOT g = f32[] call(b), to_apply=f\n}\nf {\n ROOT h = f32[] parameter(0)\n}\n";
  const auto entry_first = Parse(kEntryFirst);
  ASSERT_TRUE(entry_first) << Render(entry_first.error());
  EXPECT_EQ(entry_first->name(entry_first->entry), "e");
  EXPECT_EQ(entry_first->name(hlo::CompId(size_t{0})), "f");
  // Without ENTRY, the last one in the file.
  std::string no_entry(kEntryFirst);
  no_entry.erase(no_entry.find("ENTRY "), 6);
  const auto last = Parse(no_entry);
  ASSERT_TRUE(last) << Render(last.error());
  EXPECT_EQ(last->name(last->entry), "f");
}

TEST(TextByHand, ComputationsMayNotCallThemselves) {
  EXPECT_EQ(Reprint("f {\n  a = f32[] parameter(0)\n  ROOT b = f32[] call(a), to_apply=f\n}\n"),
            R"(test.hlo:3:36: error: computation 'f' calls itself
    ROOT b = f32[] call(a), to_apply=f
                                     ^
)");
  EXPECT_NE(Reprint("f {\n  a = f32[] parameter(0)\n  ROOT b = f32[] call(a), to_apply=g\n}\n"
                    "g {\n  a = f32[] parameter(0)\n  ROOT b = f32[] call(a), to_apply=f\n}\n")
                .find("calls itself"),
            std::string::npos);
}

TEST(TextByHand, BodiesInPlaceSayTheShape) {
  constexpr std::string_view kHead = R"(HloModule m
sum {
  s = (s32[], s32[]) parameter(0)
  s.0 = s32[] get-tuple-element(s), index=0
  s.1 = s32[] get-tuple-element(s), index=1
  ROOT r = s32[] add(s.0, s.1)
}
ENTRY e {
  a = (s32[], s32[]) parameter(0)
)";
  constexpr TextCase kCases[] = {
      {"ROOT b = call(a), to_apply={\n p = (s32[], s32[]) parameter(0)\n"
       " x = get-tuple-element(p), index=1\n ROOT t = tuple(x, p)\n}",
       "(s32[], (s32[], s32[]))"},
      // The last instruction is the root.
      {"ROOT b = call(a), to_apply={\n p = (s32[], s32[]) parameter(0)\n"
       " x = get-tuple-element(p), index=1\n}",
       "s32[]"},
      // A body in a body, and a name from outside.
      {"ROOT b = call(a), to_apply={\n p = (s32[], s32[]) parameter(0)\n"
       " ROOT c = call(p), to_apply={\n q = (s32[], s32[]) parameter(0)\n"
       " ROOT d = call(q), to_apply=sum\n}\n}",
       "s32[]"},
  };
  for (const TextCase& c : kCases) {
    const auto module = Parse(std::string(kHead).append(c.in).append("\n}\n"));
    ASSERT_TRUE(module) << Render(module.error());
    const hlo::InstrId root = module->computations[module->entry].root;
    EXPECT_EQ(hlo::ToString(module->shapes, module->instructions[root].shape), c.out) << c.in;
  }
  // A mistake in a body is told where it stands, too.
  EXPECT_EQ(
      Reprint(std::string(kHead) + "ROOT b = call(a), to_apply={\n  ROOT d = copy(z)\n}\n}\n"),
      R"(test.hlo:10:10: error: the shape of this instruction is missing and cannot be inferred
  ROOT b = call(a), to_apply={
           ^~~~
test.hlo:11:17: error: there is no instruction 'z' above this one
    ROOT d = copy(z)
                  ^
)");
}

// Bodies in bodies without end are refused soon.
TEST(TextByHand, BodiesInPlaceMayNotNestWithoutEnd) {
  std::string text = "ENTRY e {\n a = f32[] parameter(0)\n ROOT b = ";
  constexpr int kDepth = 900;
  for (int i = 0; i < kDepth; ++i)
    text += "call(a), to_apply={\n a = f32[] parameter(0)\n ROOT b = ";
  text += "copy(a)\n";
  for (int i = 0; i < kDepth; ++i) text += "}\n";
  EXPECT_NE(Reprint(text + "}\n").find("cannot be inferred"), std::string::npos);
}

TEST(TextByHand, ShapesThatBelongToNoOperand) {
  constexpr std::string_view kText =
      "ENTRY e {\n a = f32[] parameter(0)\n ROOT b = f32[] add(f32[] a, f32[], a)\n}\n";
  EXPECT_EQ(ReprintRoot(kText), "b = f32[] add(f32[] a, f32[] a)");
  EXPECT_NE(Warnings(kText).find("a shape that belongs to no operand is left out"),
            std::string::npos);
  EXPECT_NE(ReprintRoot("ENTRY e {\n ROOT b = f32[] add(f32[], f32[])\n}\n").find("error"),
            std::string::npos);
}

TEST(TextByHand, SchedulesAreTheOrderOfTheText) {
  const auto module = Parse(R"(HloModule m, is_scheduled=true
f {
  ROOT p = f32[] parameter(0)
}
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] fusion(x), kind=kLoop, calls=f
  ROOT z = f32[] negate(y)
}
)");
  ASSERT_TRUE(module) << Render(module.error());
  EXPECT_FALSE(module->computations[hlo::CompId(size_t{0})].is_scheduled());
  const auto schedule = module->schedule_of(module->entry);
  ASSERT_EQ(schedule.size(), 3U);
  EXPECT_EQ(module->name(schedule[0]), "x");
  EXPECT_EQ(module->name(schedule[1]), "y");
  EXPECT_EQ(module->name(schedule[2]), "z");
}

}  // namespace
}  // namespace stowplan
