// SPDX-License-Identifier: Apache-2.0
// The line `HloModule ...` and the stack tables.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

constexpr std::string_view kBody = "\n\nENTRY e {\n  ROOT x = f32[2]{0} parameter(0)\n}\n\n";

// What stands between `HloModule m` and the first computation, printed.
std::string ReprintHeader(std::string_view header) {
  const std::string text = Reprint("HloModule m" + std::string(header) + std::string(kBody));
  if (!text.starts_with("HloModule m") || !text.ends_with(kBody)) return text;
  return text.substr(11, text.size() - 11 - kBody.size());
}

TEST(TextHeader, PrintsAsXlaDoes) {
  constexpr TextCase kCases[] = {
      {""},
      {", is_scheduled=true"},
      {", is_scheduled=false", " "},
      {", input_output_alias={ {}: (0, {}, may-alias) }"},
      {", input_output_alias={ {0}: (0, {}, may-alias), {1,2}: (3, {4}, must-alias) }"},
      {", input_output_alias={{0}:(0,{},may-alias)}",
       ", input_output_alias={ {0}: (0, {}, may-alias) }"},
      // 2020-06: no kind.
      {", input_output_alias={ {0}: (0, {}) }"},
      {", buffer_donor={ (0, {}), (1, {0,1}) }"},
      {", buffer_donor={(0,{})}", ", buffer_donor={ (0, {}) }"},
      {", alias_passthrough_params=true"},
      {", entry_computation_layout={(f32[2]{0})->f32[2]{0}}"},
      {", entry_computation_layout={()->()}"},
      {", entry_computation_layout={( f32[2]{0} ) -> f32[2]{0} }",
       ", entry_computation_layout={(f32[2]{0})->f32[2]{0}}"},
      {", entry_computation_layout={(u8[], u8[], u8[], u8[], u8[], /*index=5*/u8[])->u8[]}"},
      // 2022: no blanks, no comments.
      {", entry_computation_layout={(u8[],u8[],u8[],u8[],u8[],u8[])->u8[]}"},
      {", allow_spmd_sharding_propagation_to_parameters={true,false}"},
      {", allow_spmd_sharding_propagation_to_output={true}"},
      {", allow_spmd_sharding_propagation_to_output={true,false,true}"},
      {", allow_spmd_sharding_propagation_to_output={ 1 , 0 }",
       ", allow_spmd_sharding_propagation_to_output={true,false}"},
      // 2021-09.
      {", allow_spmd_sharding_propagation_to_output=true"},
      {", replica_count=2, num_partitions=4"},
      {", num_partitions=4, replica_count=2", ", replica_count=2, num_partitions=4"},
      {", replica_count=1, num_partitions=1", " "},
      {", frontend_attributes={a=\"b\",c={\"d\":1}}"},
      {", frontend_attributes={c=\"d\",a=\"b\"}", ", frontend_attributes={a=\"b\",c=\"d\"}"},
      {", num_partitions=4, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, is_scheduled=true",
       ", is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, num_partitions=4"},
  };
  for (const TextCase& c : kCases) {
    EXPECT_EQ(ReprintHeader(c.in), c.expected() == " " ? "" : c.expected()) << c.in;
  }
}

TEST(TextHeader, UnknownAttributesAreKept) {
  constexpr TextCase kCases[] = {
      {", later=3"},
      {", later={a=[1, (2)], \"}\"}, much_later=x"},
      {", later=3, is_scheduled=true", ", is_scheduled=true, later=3"},
      {",\ndebug_attributes={\n  a\n}"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(ReprintHeader(c.in), c.expected()) << c.in;
  EXPECT_EQ(Warnings("HloModule m, later=3, later=4, last=5" + std::string(kBody)),
            "test.hlo:1:14: warning: header attribute 'later' is not known; kept as written\n"
            "  HloModule m, later=3, later=4, last=5\n"
            "               ^~~~~\n"
            "test.hlo:1:32: warning: header attribute 'last' is not known; kept as written\n"
            "  HloModule m, later=3, later=4, last=5\n"
            "                                 ^~~~\n");
}

TEST(TextHeader, ValuesAreKept) {
  const auto module = Parse(
      "HloModule a.b-c_1, is_scheduled=true, input_output_alias={ {1}: (2, {3}), {}: 4 }, "
      "buffer_donor={ (5, {6}) }, replica_count=7, num_partitions=8" +
      std::string(kBody));
  ASSERT_TRUE(module) << Render(module.error());
  const hlo::Header& header = module->header;
  EXPECT_EQ(module->view(header.name), "a.b-c_1");
  EXPECT_TRUE(header.is_scheduled);
  const std::vector<hlo::InputOutputAlias> aliases = {
      {.output_index = {1},
       .parameter = 2,
       .parameter_index = {3},
       .kind = hlo::AliasKind::kUnsaid},
      {.output_index = {}, .parameter = 4, .parameter_index = {}, .kind = hlo::AliasKind::kUnsaid},
  };
  EXPECT_EQ(header.aliases, aliases);
  const std::vector<hlo::BufferDonor> donors = {{.parameter = 5, .parameter_index = {6}}};
  EXPECT_EQ(header.donors, donors);
  EXPECT_EQ(header.replica_count, 7);
  EXPECT_EQ(header.num_partitions, 8);
  EXPECT_FALSE(header.entry_layout);
}

TEST(TextHeader, AModuleWithoutAHeaderIsNamedAfterItsEntry) {
  EXPECT_EQ(Reprint("ENTRY e {\n  ROOT x = f32[] constant(1)\n}\n"),
            "HloModule module_e\n\nENTRY e {\n  ROOT x = f32[] constant(1)\n}\n\n");
}

constexpr std::string_view kTables = R"(

FileNames
1 "a.py"
2 "caf\303\251 \"b\".py"

FunctionNames
1 "f"
2 "<lambda>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=14 end_line=14 column=4 end_column=27}
2 {file_name_id=2 function_name_id=2 line=1 end_line=2 column=3 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
)";

TEST(TextHeader, StackTables) {
  EXPECT_EQ(ReprintHeader(kTables), kTables);
  const auto module = Parse("HloModule m" + std::string(kTables) + std::string(kBody));
  ASSERT_TRUE(module) << Render(module.error());
  const hlo::StackFrames& frames = module->stack_frames;
  ASSERT_EQ(frames.files.size(), 2U);
  EXPECT_EQ(module->view(frames.files[1]), "caf\xc3\xa9 \"b\".py");
  ASSERT_EQ(frames.functions.size(), 2U);
  EXPECT_EQ(module->view(frames.functions[1]), "<lambda>");
  const std::vector<hlo::StackFrames::Location> locations = {
      {.file = 1, .function = 1, .line = 14, .end_line = 14, .column = 4, .end_column = 27},
      {.file = 2, .function = 2, .line = 1, .end_line = 2, .column = 3, .end_column = 4}};
  EXPECT_EQ(frames.locations, locations);
  // Text counts parents from one; a root has none.
  const std::vector<hlo::StackFrames::Frame> rows = {{.location = 1, .parent = 0},
                                                     {.location = 2, .parent = 1}};
  EXPECT_EQ(frames.frames, rows);
}

TEST(TextHeader, StackTablesWithBlanksAnywhere) {
  const std::string_view mangled =
      "  FileNames 1\n\"a.py\"   2 \"caf\\303\\251 \\\"b\\\".py\" FunctionNames 1 \"f\" 2 "
      "\"<lambda>\" /**/ FileLocations 1 { end_column=27 column=4 end_line=14 line=14 "
      "function_name_id = 1 file_name_id=1 } 2{file_name_id=2 function_name_id=2 line=1 "
      "end_line=2 column=3 end_column=4}\n\n\nStackFrames 1{file_location_id=1 parent_frame_id=1}"
      "2{file_location_id=2 parent_frame_id=2}";
  EXPECT_EQ(ReprintHeader(mangled), kTables);
}

}  // namespace
}  // namespace stowplan
