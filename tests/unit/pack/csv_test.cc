// SPDX-License-Identifier: Apache-2.0
#include "stowplan/pack/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowplan::pack {
namespace {

Result<Table> Read(std::string_view text) {
  return ReadTable(*Source::FromBytes("problem.csv", text));
}

// The first error, as "line:column: message".
std::string ErrorOf(std::string_view text) {
  const Result<Table> table = Read(text);
  if (table) return "no error";
  const Diagnostic& first = table.error().front();
  return std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message;
}

TEST(PackCsv, ReadsColumnsInAnyOrder) {
  const Result<Table> table = Read("size,id,upper,lower,alignment\r\n16, a ,7,3,8\n\n2,b,4,0,1");
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->problem, (Problem{.buffers = {{16, 3, 7, 8}, {2, 0, 4, 1}}}));
  EXPECT_THAT(table->ids, testing::ElementsAre("a", "b"));
  EXPECT_FALSE(table->offsets.has_value());
}

TEST(PackCsv, WritesWhatItReads) {
  const std::string text = "id,lower,upper,size,offset\na,3,7,16,0\nb,0,4,2,16\n";
  const Result<Table> table = Read(text);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(WriteTable(*table, {.offsets = *table->offsets, .height = 18}), text);
}

TEST(PackCsv, NamesWhatIsWrong) {
  EXPECT_EQ(ErrorOf(""), "1:1: there is no header: id,lower,upper,size");
  EXPECT_EQ(ErrorOf("id,lower,upper\n"), "1:1: the column `size` is missing");
  EXPECT_EQ(ErrorOf("id,lower,upper,size,gaps\n"), "1:21: there is no column `gaps`");
  EXPECT_EQ(ErrorOf("id,lower,lower,size\n"), "1:10: the column `lower` is there twice");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,2\n"), "2:1: 3 fields, where the header has 4");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,x,4\n"), "2:5: a whole number is wanted here");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,nan,4\n"), "2:5: a whole number is wanted here");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,2,2,4\n"), "2:1: the buffer ends before it begins");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,2,-4\n"), "2:7: a size is not negative");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,2,99999999999999999999\n"),
            "2:7: the number does not fit in 64 bits");
  EXPECT_EQ(ErrorOf("id,lower,upper,size\na,0,2,4\na,0,2,4\n"), "3:1: `a` is there twice");
  EXPECT_EQ(ErrorOf("lower,upper,size\n0,2,9223372036854775807\n"),
            "2:1: the sizes up to here do not fit in 64 bits together");
  EXPECT_EQ(ErrorOf("lower,upper,size,alignment\n0,2,8,0\n"), "2:7: an alignment is positive");
}

TEST(PackCsv, StopsAfterTwentyErrors) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 100; ++i) text += "x\n";
  EXPECT_EQ(Read(text).error().size(), kMaxErrors);
}

}  // namespace
}  // namespace stowplan::pack
