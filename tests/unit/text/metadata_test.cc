// SPDX-License-Identifier: Apache-2.0
// metadata={...}, old and new.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

std::string ReprintMetadata(std::string_view metadata) {
  const std::string head = "%x = f32[4]{0} copy(%a)";
  const std::string line = ReprintInstruction(head + ", metadata=" + std::string(metadata));
  if (line == head) return "none";
  const std::string prefix = head + ", metadata=";
  return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

TEST(TextMetadata, FieldsPrintInXlasOrder) {
  constexpr TextCase kCases[] = {
      {R"({op_name="jit(f)/add"})"},
      {R"({op_type="add" op_name="jit(f)/add" source_file="a.py" source_line=3})"},
      {R"({op_name="n" source_file="a.py" source_line=3 source_end_line=4 source_column=5 source_end_column=6})"},
      {R"({op_name="n" stack_frame_id=7})"},
      {R"({stack_frame_id=7})"},
      {R"({op_name="n" profile_type={1,2} deduplicated_name="d" scheduling_name="s" stack_frame_id=1 metadata_payload="p"})"},
      {R"({metadata_payload="p" stack_frame_id=1 scheduling_name="s" deduplicated_name="d" profile_type={1} source_end_column=6 source_column=5 source_end_line=4 source_line=3 source_file="a.py" op_name="n" op_type="t"})",
       R"({op_type="t" op_name="n" source_file="a.py" source_line=3 source_end_line=4 source_column=5 source_end_column=6 profile_type={1} deduplicated_name="d" scheduling_name="s" stack_frame_id=1 metadata_payload="p"})"},
      {R"({ op_name = "n" , source_line = 3 })", R"({op_name="n" source_line=3})"},
      {R"({op_name="n" source_line=-1})"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(ReprintMetadata(c.in), c.expected()) << c.in;
}

TEST(TextMetadata, NothingIsPrintedWithoutOneOfTheMainFields) {
  for (const char* metadata :
       {"{}", R"({op_name=""})", "{source_line=3}", R"({deduplicated_name="d"})",
        "{profile_type={1}}", "{stack_frame_id=0}"}) {
    EXPECT_EQ(ReprintMetadata(metadata), "none") << metadata;
  }
}

TEST(TextMetadata, StringsAreEscaped) {
  constexpr TextCase kCases[] = {
      {R"({op_name="caf\303\251 \"q\" \'s\' \\ \n"})"},
      {R"({op_name="a}b{c,d=e"})"},
      {R"({op_name="x['a']"})", R"({op_name="x[\'a\']"})"},
      // XLA writes this one raw.
      {R"({scheduling_name="it's\x"})"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(ReprintMetadata(c.in), c.expected()) << c.in;
}

TEST(TextMetadata, FieldsOfOldTextsAreReadAndNotKept) {
  constexpr std::string_view kText = R"(HloModule m
ENTRY e {
  ROOT x = f32[] constant(1), metadata={op_name="n" size_of_generated_code_in_bytes=3 preserve_layout=true profile_info={a=1} logical_creation_pass_id=-5}
}
)";
  EXPECT_EQ(ReprintRoot(kText), "x = f32[] constant(1), metadata={op_name=\"n\"}");
}

TEST(TextMetadata, ValuesAreKept) {
  const auto module = Parse(R"(
ENTRY e {
  a = f32[] constant(1), metadata={op_type="t" op_name="\141" source_file="f" source_line=1 source_end_line=2 source_column=3 source_end_column=4 profile_type={1,2} deduplicated_name="d" scheduling_name="s" stack_frame_id=5 metadata_payload="p"}
  ROOT b = f32[] copy(a)
}
)");
  ASSERT_TRUE(module) << Render(module.error());
  const hlo::Metadata* m = module->metadata_of(hlo::InstrId(size_t{0}));
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(module->view(m->op_type), "t");
  EXPECT_EQ(module->view(m->op_name), "a");
  EXPECT_EQ(module->view(m->source_file), "f");
  EXPECT_EQ(m->source_line, 1);
  EXPECT_EQ(m->source_end_line, 2);
  EXPECT_EQ(m->source_column, 3);
  EXPECT_EQ(m->source_end_column, 4);
  EXPECT_EQ(m->profile_types.count, 2U);
  EXPECT_EQ(module->view(m->deduplicated_name), "d");
  EXPECT_EQ(module->view(m->scheduling_name), "s");
  EXPECT_EQ(m->stack_frame, 5);
  EXPECT_EQ(module->view(m->payload), "p");
  EXPECT_EQ(module->metadata_of(hlo::InstrId(size_t{1})), nullptr);
}

}  // namespace
}  // namespace stowplan
