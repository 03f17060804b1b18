// SPDX-License-Identifier: Apache-2.0
// `%x#1`: an element of a tuple as an operand, without an instruction that takes it.
#include <gmock/gmock.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

constexpr std::string_view kCompact = R"(HloModule m

ENTRY %e (t: (f32[2], (s32[], pred[]))) -> (pred[], f32[2], (s32[], pred[])) {
  %t = (f32[2]{0}, (s32[], pred[])) parameter(0)
  %s = f32[2]{0} select(%t#1#1, %t#0, %t#0)
  ROOT %r = (pred[], f32[2]{0}, (s32[], pred[])) tuple(%t#1#1, %s, %t#1)
}

)";

TEST(TextCompact, PrintsBack) { EXPECT_EQ(Reprint(kCompact), kCompact); }

TEST(TextCompact, StandsForGetTupleElements) {
  EXPECT_EQ(Reprint(kCompact, {}), R"(HloModule m

ENTRY %e (t: (f32[2], (s32[], pred[]))) -> (pred[], f32[2], (s32[], pred[])) {
  %t = (f32[2]{0}, (s32[], pred[])) parameter(0)
  %t_1 = (s32[], pred[]) get-tuple-element(%t), index=1
  %t_1_1 = pred[] get-tuple-element(%t_1), index=1
  %t_0 = f32[2]{0} get-tuple-element(%t), index=0
  %s = f32[2]{0} select(%t_1_1, %t_0, %t_0)
  ROOT %r = (pred[], f32[2]{0}, (s32[], pred[])) tuple(%t_1_1, %s, %t_1)
}

)");
}

TEST(TextCompact, ARootIsShown) {
  constexpr std::string_view kText = R"(HloModule m

ENTRY %e (t: (f32[2], (s32[], pred[]))) -> s32[] {
  %t = (f32[2]{0}, (s32[], pred[])) parameter(0)
  ROOT %g = s32[] get-tuple-element(%t#1), index=0
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

TEST(TextCompact, WrittenElementsBecomeCompact) {
  constexpr std::string_view kText = R"(HloModule m

ENTRY %e (t: (f32[2], s32[])) -> f32[2] {
  %t = (f32[2]{0}, s32[]) parameter(0)
  %g = f32[2]{0} get-tuple-element(%t), index=0
  ROOT %r = f32[2]{0} negate(%g)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
  EXPECT_EQ(Reprint(kText, *hlo::FindDialect("jaxlib-0.11.2")), R"(HloModule m

ENTRY %e (t: (f32[2], s32[])) -> f32[2] {
  %t = (f32[2]{0}, s32[]) parameter(0)
  ROOT %r = f32[2]{0} negate(%t#0)
}

)");
}

// The names that are made up for elements may be taken further down.
TEST(TextCompact, MadeUpNamesAreNew) {
  const auto module = Parse(R"(HloModule m
ENTRY %e {
  %t = (f32[2]{0}, s32[]) parameter(0)
  %a = f32[2]{0} negate(%t#0)
  %t_0 = f32[2]{0} negate(%a)
  ROOT %r = f32[2]{0} add(%t_0, %t#0)
}
)");
  ASSERT_TRUE(module) << Render(module.error());
  const std::string plain = hlo::ToString(*module, hlo::Dialect{});
  EXPECT_EQ(Reprint(plain), plain);
}

TEST(TextCompact, ElementsMustExist) {
  constexpr TextCase kCases[] = {
      {"%t#2", "'t' of shape (f32[2]{0}, s32[]) has no element 2"},
      {"%t#-1", "'t' of shape (f32[2]{0}, s32[]) has no element -1"},
      {"%t#0#0", "'t_0' of shape f32[2]{0} has no element 0"},
      {"%t#x", "expected a tuple index, found 'x'"},
      {"%t#", "expected a tuple index, found ')'"},
      {"%u#0", "there is no instruction 'u' above this one"},
  };
  for (const TextCase& c : kCases) {
    const auto module =
        Parse("ENTRY e {\n  t = (f32[2]{0}, s32[]) parameter(0)\n  ROOT r = f32[2] negate(" +
              std::string(c.in) + ")\n}\n");
    ASSERT_FALSE(module) << c.in;
    EXPECT_EQ(module.error()[0].message, c.out);
  }
}

// XLA prints control edges from get-tuple-elements by names that the text has nowhere else.
TEST(TextCompact, EdgesFromElementsAreLeftOut) {
  const auto text = [](std::string_view operand) {
    return "HloModule m\nENTRY %e {\n  %t = (f32[2]{0}, s32[]) parameter(0)\n  %p = f32[2]{0} "
           "parameter(1)\n  %a = f32[2]{0} negate(" +
           std::string(operand) +
           ")\n  ROOT %r = f32[2]{0} negate(%a), control-predecessors={%gte.7, %p, %gte.8}\n}\n";
  };
  const auto compact = Parse(text("%t#0"));
  ASSERT_TRUE(compact) << Render(compact.error());
  ASSERT_EQ(compact->warnings.size(), 1U);
  EXPECT_THAT(compact->warnings[0].message, testing::HasSubstr("does not show"));
  EXPECT_THAT(hlo::ToString(*compact, compact->dialect),
              testing::HasSubstr("control-predecessors={%p}"));
  EXPECT_FALSE(Parse(text("%p"))) << "every instruction is shown there";
  // The first element may be read further down; names in quotes are none.
  const auto before = [](std::string_view operand) {
    return "HloModule m\nENTRY %e {\n  %t = (f32[2]{0}, f32[2]{0}) parameter(0)\n  %p = f32[2]{0} "
           "parameter(1), control-predecessors={%gte.7}\n  ROOT %a = f32[2]{0} negate(" +
           std::string(operand) + "), metadata={op_name=\"x#1,y\"}\n}\n";
  };
  const auto late = Parse(before("%t#0"));
  ASSERT_TRUE(late) << Render(late.error());
  EXPECT_EQ(late->warnings.size(), 1U);
  EXPECT_FALSE(Parse(before("%p")));
}

}  // namespace
}  // namespace stowplan
