// SPDX-License-Identifier: Apache-2.0
// The expected texts are what jaxlib 0.10.2 prints for these bits.
#include "proto/float_text.h"

#include <bit>
#include <string>

#include <gtest/gtest.h>

namespace stowplan::proto {
namespace {

using hlo::ElementType;

std::string Text(ElementType type, uint64_t bits) {
  std::string text;
  AppendFloat(type, bits, text);
  return text;
}
std::string Text(float number) { return Text(ElementType::kF32, std::bit_cast<uint32_t>(number)); }
std::string Text(double number) { return Text(ElementType::kF64, std::bit_cast<uint64_t>(number)); }

TEST(AppendFloat, ShortWhenThatIsEnough) {
  EXPECT_EQ(Text(0.1F), "0.1");
  EXPECT_EQ(Text(1.0F / 3), "0.333333343");
  EXPECT_EQ(Text(1e6F), "1e+06");
  EXPECT_EQ(Text(123456.0F), "123456");
  EXPECT_EQ(Text(1e-5F), "1e-05");
  EXPECT_EQ(Text(-0.0F), "-0");
  EXPECT_EQ(Text(ElementType::kF32, 1), "1.4013e-45");
  EXPECT_EQ(Text(0.1), "0.1");
  EXPECT_EQ(Text(1.0 / 3), "0.33333333333333331");
  EXPECT_EQ(Text(5e-324), "4.94065645841247e-324");
}

TEST(AppendFloat, Specials) {
  EXPECT_EQ(Text(ElementType::kF32, 0x7f800000), "inf");
  EXPECT_EQ(Text(ElementType::kF32, 0xff800000), "-inf");
  EXPECT_EQ(Text(ElementType::kF32, 0x7fc00000), "nan");
  EXPECT_EQ(Text(ElementType::kF32, 0xffc00000), "-nan");
  EXPECT_EQ(Text(ElementType::kF32, 0x7fc00001), "nan(0x400001)");
  EXPECT_EQ(Text(ElementType::kF64, 0x7ff0000000000001), "nan(0x1)");
  EXPECT_EQ(Text(ElementType::kF16, 0x7e00), "nan");
  EXPECT_EQ(Text(ElementType::kBf16, 0xff81), "-nan(0x1)");
}

TEST(AppendFloat, HalfWidth) {
  EXPECT_EQ(Text(ElementType::kF16, 0x3555), "0.33325");
  EXPECT_EQ(Text(ElementType::kF16, 0x0001), "5.9605e-08");
  EXPECT_EQ(Text(ElementType::kF16, 0x7bff), "65504");
  EXPECT_EQ(Text(ElementType::kBf16, 0x3eab), "0.334");
  EXPECT_EQ(Text(ElementType::kBf16, 0x7f7f), "3.39e+38");
}

TEST(AppendFloat, EightBitsAndLess) {
  EXPECT_EQ(Text(ElementType::kF8e5m2, 0x7b), "5.7e+04");
  EXPECT_EQ(Text(ElementType::kF8e5m2, 0x7c), "inf");
  EXPECT_EQ(Text(ElementType::kF8e5m2, 0x7d), "nan(0x1)");
  EXPECT_EQ(Text(ElementType::kF8e5m2, 0x7e), "nan");
  EXPECT_EQ(Text(ElementType::kF8e4m3fn, 0x7e), "448");
  EXPECT_EQ(Text(ElementType::kF8e4m3fn, 0xff), "-nan");
  EXPECT_EQ(Text(ElementType::kF8e4m3fnuz, 0x7f), "240");
  EXPECT_EQ(Text(ElementType::kF8e4m3fnuz, 0x80), "-nan");
  EXPECT_EQ(Text(ElementType::kF8e4m3fnuz, 0x01), "0.000977");
  EXPECT_EQ(Text(ElementType::kF8e8m0fnu, 0x00), "5.9e-39");
  EXPECT_EQ(Text(ElementType::kF8e8m0fnu, 0xff), "nan");
  EXPECT_EQ(Text(ElementType::kF4e2m1fn, 0x7), "6");
  EXPECT_EQ(Text(ElementType::kF4e2m1fn, 0x9), "-0.5");
  EXPECT_EQ(Text(ElementType::kF6e3m2fn, 0x1f), "28");
  EXPECT_EQ(Text(ElementType::kF6e2m3fn, 0x3f), "-7.5");
}

TEST(AppendShort, SixDigits) {
  const auto text = [](double number) {
    std::string out;
    AppendShort(number, out);
    return out;
  };
  EXPECT_EQ(text(0.001F), "0.001");
  EXPECT_EQ(text(33), "33");
  EXPECT_EQ(text(1234567), "1.23457e+06");
}

}  // namespace
}  // namespace stowplan::proto
