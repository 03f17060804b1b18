// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/element_type.h"

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

TEST(ElementType, NamesNumbersAndWidths) {
  struct Row {
    const char* name;
    int number;
    int bits;
  };
  // As in xla_data.proto; 33 numbers and four types that are none.
  constexpr Row kRows[] = {
      {"pred", 1, 8},
      {"s8", 2, 8},
      {"s16", 3, 16},
      {"s32", 4, 32},
      {"s64", 5, 64},
      {"u8", 6, 8},
      {"u16", 7, 16},
      {"u32", 8, 32},
      {"u64", 9, 64},
      {"f16", 10, 16},
      {"f32", 11, 32},
      {"f64", 12, 64},
      {"tuple", 13, 0},
      {"opaque", 14, 0},
      {"c64", 15, 64},
      {"bf16", 16, 16},
      {"token", 17, 0},
      {"c128", 18, 128},
      {"f8e5m2", 19, 8},
      {"f8e4m3fn", 20, 8},
      {"s4", 21, 4},
      {"u4", 22, 4},
      {"f8e4m3b11fnuz", 23, 8},
      {"f8e5m2fnuz", 24, 8},
      {"f8e4m3fnuz", 25, 8},
      {"s2", 26, 2},
      {"u2", 27, 2},
      {"f8e4m3", 28, 8},
      {"f8e3m4", 29, 8},
      {"s1", 30, 1},
      {"u1", 31, 1},
      {"f4e2m1fn", 32, 4},
      {"f8e8m0fnu", 33, 8},
      {"buffer", 34, 0},
      {"f6e3m2fn", 35, 6},
      {"f6e2m3fn", 36, 6},
  };
  for (const Row& row : kRows) {
    const auto type = FindElementType(std::string_view(row.name));
    ASSERT_TRUE(type) << row.name;
    EXPECT_EQ(FindElementType(int64_t{row.number}), type) << row.name;
    EXPECT_EQ(static_cast<int>(*type), row.number) << row.name;
    EXPECT_EQ(Name(*type), row.name);
    EXPECT_EQ(BitWidth(*type), row.bits) << row.name;
    EXPECT_EQ(IsArray(*type), row.bits != 0) << row.name;
  }
}

TEST(ElementType, UnknownOnes) {
  EXPECT_EQ(FindElementType("opaque_type"), ElementType::kOpaque);
  for (const char* name : {"", "f", "f3", "f33", "F32", "invalid", "f32 ", "f8e4m3fnx"}) {
    EXPECT_FALSE(FindElementType(std::string_view(name))) << name;
  }
  for (const int64_t number : {int64_t{-1}, int64_t{0}, int64_t{37}, INT64_MAX, INT64_MIN}) {
    EXPECT_FALSE(FindElementType(number)) << number;
  }
}

}  // namespace
}  // namespace stowplan::hlo
