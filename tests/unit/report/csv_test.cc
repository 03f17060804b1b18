// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

TEST(Csv, Allocations) {
  EXPECT_EQ(WriteCsv(Example(), CsvTable::kAllocations),
            "number,size,color,address,page,parameter,parameter_shape,parameter_index,output_shape,"
            "is_constant,is_thread_local,is_maybe_live_out,is_temp,value_count\n"
            "0,16,0,,,0,f32[4],{},,0,0,0,0,1\n"
            "1,16,0,,,,,,\"(f32[4], f32[])\",0,0,1,0,1\n"
            "2,36,0,,,,,,,0,0,0,1,3\n");
  const Report old =
      MustRead({"BufferAssignment:\nallocation 3: 0x15308170, size 4, parameter 1, shape |(f32[], "
                "f32[])| at "
                "ShapeIndex {1,0}:\n"});
  EXPECT_TRUE(WriteCsv(old, CsvTable::kAllocations)
                  .ends_with("\n3,4,0,0x15308170,,1,\"(f32[], f32[])\",\"{1,0}\",,0,0,0,0,0\n"))
      << WriteCsv(old, CsvTable::kAllocations);
}

TEST(Csv, Values) {
  const std::string csv = WriteCsv(Example(), CsvTable::kValues);
  EXPECT_TRUE(csv.starts_with(
      "number,instruction,index,is_phi,color,allocation,size,offset,shape,start,end,position_count,"
      "use_count,instruction_text\n"
      "0,p,{},0,0,0,16,0,f32[4]{0},0,5,1,2,%p = f32[4]{0} parameter(0)\n"
      "4,out,{},0,0,1,16,0,\"(f32[4]{0}, f32[])\",4,5,1,0,\"%out = (f32[4]{0}, f32[]) tuple(%b, "
      "%c)\"\n"
      "1,a,{},0,0,2,16,0,f32[4]{0},2,3,1,1,\"%a = f32[4]{0} add(%p, %p), "
      "metadata={op_name=\"\"say \\\"\"a\\\"\"\"\"}\"\n"
      "2,b,{},1,"))
      << csv;
}

TEST(Csv, WhatIsNotKnownIsEmpty) {
  const Report report = MustRead({kLiveRanges});
  EXPECT_TRUE(WriteCsv(report, CsvTable::kValues).ends_with("\n,out,{},0,,,,,,4,5,,,\n"))
      << WriteCsv(report, CsvTable::kValues);
  EXPECT_FALSE(HasCsvTable(report, CsvTable::kAllocations));
  EXPECT_FALSE(HasCsvTable(report, CsvTable::kUsage));
  EXPECT_TRUE(HasCsvTable(report, CsvTable::kRanges));
}

TEST(Csv, TheOtherTables) {
  const Report report = Example();
  EXPECT_EQ(
      WriteCsv(report, CsvTable::kPositions),
      "value,instruction,index\n0,p,{}\n4,out,{}\n1,a,{}\n2,b,{}\n2,out,{0}\n3,c,{}\n3,out,{1}\n");
  EXPECT_EQ(
      WriteCsv(report, CsvTable::kUses),
      "value,instruction,operand,index\n0,a,0,{}\n0,a,1,{}\n1,b,0,{}\n2,out,0,{}\n3,out,1,{}\n");
  EXPECT_EQ(WriteCsv(report, CsvTable::kRanges),
            "value,instruction,index,start,end\n0,p,{},0,5\n1,a,{},2,3\n2,b,{},3,5\n3,c,{},1,5\n4,"
            "out,{},4,5\n");
  EXPECT_EQ(WriteCsv(report, CsvTable::kPeak),
            "time,instruction,index,bytes\n4,b,{},16\n4,out,{},16\n4,p,{},16\n4,c,{},4\n");
  EXPECT_EQ(WriteCsv(report, CsvTable::kTree),
            "depth,name,bytes\n0,main,0\n1,\"x,\"\"y\"\"\",52\n");
  EXPECT_EQ(WriteCsv(report, CsvTable::kUsage),
            "allocation,color,offset,size,value_count,shapes\n"
            "2,0,0,16,2,\"f32[2,2], f32[4]\"\n2,0,32,4,1,f32[]\n"
            "0,0,0,16,1,f32[4]\n1,0,0,16,1,\"(f32[4], f32[])\"\n");
}

TEST(Csv, TablesHaveNames) {
  for (const NamedCsvTable& row : CsvTables()) EXPECT_EQ(FindCsvTable(row.name), row.table);
  EXPECT_EQ(CsvTables().size(), 8U);
  EXPECT_FALSE(FindCsvTable("sheets").has_value());
}

}  // namespace
}  // namespace stowplan::report::test
