// SPDX-License-Identifier: Apache-2.0
// A text shows which dialect it is written in.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

hlo::Dialect DialectOf(std::string_view text) {
  const auto module = Parse(text);
  EXPECT_TRUE(module) << Render(module.error());
  return module ? module->dialect : hlo::Dialect{};
}

// In a computation %e with a parameter %a.
hlo::Dialect DialectOfInstruction(std::string_view instruction) {
  return DialectOf("HloModule m\nENTRY %e {\n  %a = f32[2]{0} parameter(0)\n  ROOT " +
                   std::string(instruction) + "\n}\n");
}

TEST(TextDialect, NewestUnlessTheTextSaysOtherwise) {
  EXPECT_EQ(DialectOfInstruction("%b = f32[2]{0} negate(%a)"), hlo::Dialect{});
}

TEST(TextDialect, EachMarkIsSeen) {
  const auto with = [](auto change) {
    hlo::Dialect dialect;
    change(dialect);
    return dialect;
  };
  EXPECT_EQ(DialectOf("ENTRY e {\n ROOT a = f32[] constant(1)\n}\n"),
            with([](auto& d) { d.long_form = false; }));
  EXPECT_EQ(DialectOf("ENTRY e () -> f32[] {\n ROOT a = f32[] constant(1)\n}\n"), hlo::Dialect{});
  EXPECT_EQ(DialectOfInstruction("%b = f32[2]{0} negate(f32[2]{0} %a)"),
            with([](auto& d) { d.operand_shapes = true; }));
  EXPECT_EQ(DialectOfInstruction("%b = (s1[], s1[], s1[], s1[], s1[], s1[]) custom-call(), "
                                 "custom_call_target=\"f\""),
            with([](auto& d) { d.index_comments = false; }));
  EXPECT_EQ(DialectOfInstruction("%b = f32[] custom-call(%a, %a, %a, %a, %a, %a), "
                                 "custom_call_target=\"f\""),
            with([](auto& d) { d.index_comments = false; }));
  EXPECT_EQ(DialectOfInstruction("%b = f32[2]{0} copy(%a), backend_config=\"{\\\"a\\\":1}\""),
            with([](auto& d) { d.raw_config = false; }));
  EXPECT_EQ(DialectOfInstruction("%b = f32[2]{0} copy(%a), backend_config=\"a\""), hlo::Dialect{});
  EXPECT_EQ(
      DialectOfInstruction("%b = f32[2]{0} copy(%a), frontend_attributes={x=\"{\\\"a\\\":1}\"}"),
      with([](auto& d) { d.raw_frontend = false; }));
  EXPECT_EQ(DialectOf("HloModule m, entry_computation_layout={(f32[],f32[])->f32[]}\nENTRY %e {\n"
                      " %a = f32[] parameter(0)\n ROOT %b = f32[] parameter(1)\n}\n"),
            with([](auto& d) { d.spaced_entry_layout = false; }));
  EXPECT_EQ(DialectOf("HloModule m, allow_spmd_sharding_propagation_to_output=true\n"
                      "ENTRY %e {\n ROOT %a = f32[] constant(1)\n}\n"),
            with([](auto& d) { d.bare_output_propagation = true; }));
  EXPECT_EQ(DialectOfInstruction("%b = f32[] constant(f32[] 1)"),
            with([](auto& d) { d.constant_shapes = true; }));
  EXPECT_EQ(DialectOf("HloModule m\nENTRY %e {\n  %t = (f32[], f32[]) parameter(0)\n"
                      "  ROOT %b = f32[] negate(%t#0)\n}\n"),
            with([](auto& d) { d.compact_tuples = true; }));
  EXPECT_EQ(DialectOf("HloModule m\nENTRY %e {\n ROOT %a = f32[] constant(1)\n} // e\n"),
            with([](auto& d) { d.closing_names = true; }));
  EXPECT_EQ(DialectOf("HloModule m\nENTRY %e {\n ROOT %a = f32[] constant(1)\n},"
                      " execution_thread=\"t\" // e\n"),
            with([](auto& d) { d.closing_names = true; }));
}

TEST(TextDialect, MarksAreSeenBetweenOtherComments) {
  EXPECT_TRUE(DialectOf("HloModule m\nENTRY %e {\n ROOT %a = f32[] constant(1)\n}"
                        "/* the end */\n // e \t\r\n// more\n")
                  .closing_names);
  EXPECT_TRUE(DialectOfInstruction("%b = (s1[], s1[], s1[], s1[], s1[], // five\n /*index=5*/s1[])"
                                   " custom-call(), custom_call_target=\"f\"")
                  .index_comments);
  EXPECT_TRUE(DialectOfInstruction("%b = f32[] custom-call(%a, %a, %a, %a, %a,/**/\t/*index=5*/ %a"
                                   "), custom_call_target=\"f\"")
                  .index_comments);
}

TEST(TextDialect, OtherCommentsAreNoMarks) {
  EXPECT_EQ(DialectOf("HloModule m\nENTRY %e {\n ROOT %a = f32[] constant(1)\n} // %c = d\n"),
            hlo::Dialect{});
  EXPECT_EQ(DialectOf("HloModule m\nENTRY %e {\n ROOT %a = f32[] constant(1)\n} //\n// \n//e\n"),
            hlo::Dialect{});
  EXPECT_FALSE(DialectOfInstruction("%b = (s1[], s1[], s1[], s1[], s1[], /* five */ s1[]) "
                                    "custom-call(), custom_call_target=\"f\"")
                   .index_comments);
  EXPECT_FALSE(DialectOfInstruction("%b = f32[] custom-call(%a, %a, %a, %a, %a, /* five */ %a), "
                                    "custom_call_target=\"f\"")
                   .index_comments);
}

// A comma without a blank shows the old way; more blanks than either way has show nothing.
TEST(TextDialect, BlanksOfTheEntryLayout) {
  const auto is_spaced = [](const std::string& shapes) {
    return DialectOf("HloModule m, entry_computation_layout={(" + shapes +
                     ")->f32[]}\nENTRY %e {\n %a = f32[] parameter(0)\n %c = f32[] parameter(1)\n"
                     " ROOT %b = f32[] parameter(2)\n}\n")
        .spaced_entry_layout;
  };
  EXPECT_TRUE(is_spaced("f32[], f32[], f32[]"));
  EXPECT_TRUE(is_spaced("f32[],\n f32[],/* two */ f32[]"));
  EXPECT_FALSE(is_spaced("f32[],f32[],f32[]"));
  EXPECT_FALSE(is_spaced("f32[],f32[], f32[]"));
}

}  // namespace
}  // namespace stowplan
