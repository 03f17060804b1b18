// SPDX-License-Identifier: Apache-2.0
// XLA grows weekly: what Stowplan does not know is kept as it was written, with a warning.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

constexpr std::string_view kText = R"(HloModule m

ENTRY %e (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %b = f32[2]{0} new-opcode(%a, %a), newer={[1, (2)], "a,}b"}, metadata={op_name="n"}
  %c = f32[2]{0} new-opcode(%b), newer=x
  %d = f32[2]{0} newer-opcode(), dimensions={0}, metadata={op_name="n"}, newest=-1.5
  ROOT %r = f32[2]{0} add(%c, %d), newest={ 1,  2 }
}

)";

TEST(TextUnknown, IsKept) {
  EXPECT_EQ(Reprint(kText), R"(HloModule m

ENTRY %e (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %b = f32[2]{0} new-opcode(%a, %a), metadata={op_name="n"}, newer={[1, (2)], "a,}b"}
  %c = f32[2]{0} new-opcode(%b), newer=x
  %d = f32[2]{0} newer-opcode(), dimensions={0}, metadata={op_name="n"}, newest=-1.5
  ROOT %r = f32[2]{0} add(%c, %d), newest={ 1,  2 }
}

)");
}

TEST(TextUnknown, IsWarnedOfOnceForEachKind) {
  EXPECT_EQ(Warnings(kText),
            R"(test.hlo:5:38: warning: attribute 'newer' is not known; kept as written
    %b = f32[2]{0} new-opcode(%a, %a), newer={[1, (2)], "a,}b"}, metadata={op_name="n"}
                                       ^~~~~
test.hlo:5:18: warning: opcode 'new-opcode' is not known
    %b = f32[2]{0} new-opcode(%a, %a), newer={[1, (2)], "a,}b"}, metadata={op_name="n"}
                   ^~~~~~~~~~
test.hlo:7:74: warning: attribute 'newest' is not known; kept as written
    %d = f32[2]{0} newer-opcode(), dimensions={0}, metadata={op_name="n"}, newest=-1.5
                                                                           ^~~~~~
test.hlo:7:18: warning: opcode 'newer-opcode' is not known
    %d = f32[2]{0} newer-opcode(), dimensions={0}, metadata={op_name="n"}, newest=-1.5
                   ^~~~~~~~~~~~
)");
}

TEST(TextUnknown, OpcodesHaveNames) {
  const auto module = Parse(kText);
  ASSERT_TRUE(module) << Render(module.error());
  const hlo::InstrId id(size_t{1});
  EXPECT_EQ(module->instructions[id].opcode, hlo::Opcode::kUnknown);
  EXPECT_EQ(module->opcode_name(id), "new-opcode");
  EXPECT_EQ(module->operands_of(id).size(), 2U);
  const hlo::Attribute* attribute = module->FindAttribute(id, hlo::AttributeKey::kUnknown);
  ASSERT_NE(attribute, nullptr);
  EXPECT_EQ(module->view(attribute->text()), "newer={[1, (2)], \"a,}b\"}");
}

TEST(TextUnknown, SeveralOfOneInstruction) {
  const std::string line = "%x = f32[4]{0} copy(%a), one=1, two={2}, three=\"3\"";
  EXPECT_EQ(ReprintInstruction(line), line);
}

TEST(TextUnknown, BlanksAndCommentsAroundTheValueAreNotKept) {
  EXPECT_EQ(ReprintInstruction("%x = f32[4]{0} copy(%a), one=\n /* 1 */ 1 // }\n , two = {2}"),
            "%x = f32[4]{0} copy(%a), one=1, two={2}");
}

TEST(TextUnknown, WithoutAValueIsAnError) {
  EXPECT_NE(ReprintInstruction("%x = f32[4]{0} copy(%a), one= , two=2")
                .find("35:38: error: expected a value, found ','"),
            std::string::npos);
  EXPECT_NE(Reprint("HloModule m, one=, two=2\nENTRY e {\n  ROOT r = f32[] constant(1)\n}\n")
                .find("error: expected a value, found ','"),
            std::string::npos);
}

TEST(TextUnknown, NothingElseIsWarnedOf) {
  EXPECT_EQ(Warnings("ENTRY e {\n  ROOT r = f32[] constant(1), metadata={op_name=\"n\"}\n}\n"), "");
}

}  // namespace
}  // namespace stowplan
