// SPDX-License-Identifier: Apache-2.0
// Shapes and layouts in text.
#include "stowplan/hlo/shape.h"

#include <string>

#include <gtest/gtest.h>

#include "text/shape_parser.h"
#include "unit/text/reading.h"

namespace stowplan {
namespace {

// The shape printed, or what is wrong with it.
std::string ReprintShape(std::string_view text) {
  const auto source = Source::FromBytes("shape", text);
  text::ErrorList errors(*source);
  text::Cursor cursor{source->begin(), source->end(), &errors};
  hlo::ShapeTable shapes;
  const hlo::ShapeId id = text::ShapeParser(shapes).Parse(cursor);
  if (id.is_none()) return errors.empty() ? "no error" : errors.Take()[0].message;
  cursor.Skip();
  if (!cursor.at_end()) return "left over: " + std::string(cursor.p, cursor.end);
  return hlo::ToString(shapes, id);
}

TEST(TextShape, KnowsEveryElementType) {
  for (const char* type : {"pred",       "s8",         "s16",    "s32",       "s64",
                           "u8",         "u16",        "u32",    "u64",       "f16",
                           "f32",        "f64",        "bf16",   "c64",       "c128",
                           "s1",         "u1",         "s2",     "u2",        "s4",
                           "u4",         "f8e5m2",     "f8e4m3", "f8e4m3fn",  "f8e4m3b11fnuz",
                           "f8e5m2fnuz", "f8e4m3fnuz", "f8e3m4", "f8e8m0fnu", "f4e2m1fn",
                           "f6e3m2fn",   "f6e2m3fn"}) {
    const std::string shape = std::string(type) + "[2,3]{1,0}";
    EXPECT_EQ(ReprintShape(shape), shape);
  }
}

TEST(TextShape, PrintsAsXlaDoes) {
  constexpr TextCase kCases[] = {
      // Dimensions.
      {"f32[]"},
      {"f32[0]"},
      {"f32[2,3]"},
      {"f32[9223372036854775807]"},
      {"f32[<=4]{0}"},
      {"f32[2,<=4]{1,0}"},
      {"f32[?,2]{1,0}"},
      {"f32[ 2 , <= 3 ]", "f32[2,<=3]"},
      {"f32 [2] {0}", "f32[2]{0}"},
      // Layouts.
      {"f32[2,3]{0,1}"},
      {"f32[2,3]{1,0}"},
      {"f32[2,3]{ 1 , 0 : T( 8 , 128 ) }", "f32[2,3]{1,0:T(8,128)}"},
      {"f32[]{}", "f32[]"},
      {"f32[]{:T(128)}"},
      {"f32[]{:S(2)}"},
      {"bf16[8,128]{1,0:T(8,128)(2,1)}"},
      {"f32[8,128]{1,0:T(*,8,128)}"},
      {"f32[8]{0:L(2)}"},
      {"f32[8]{0:L(1)}", "f32[8]{0}"},
      {"f32[8]{0:#(u32)}"},
      {"f32[8]{0:*(u16)}"},
      {"f32[8]{0:#(invalid)}", "f32[8]{0}"},
      {"s4[8]{0:E(4)}"},
      {"s4[8]{0:E(0)}", "s4[8]{0}"},
      {"f32[8]{0:S(5)}"},
      {"f32[8]{0:S(0)}", "f32[8]{0}"},
      {"f32[8]{0:SC(0:4)}"},
      {"f32[8,8]{1,0:SC(0:2,4)(1:4)}"},
      {"f32[8]{0:P(f32[16]{0:T(8)})}"},
      {"f32[<=8]{0:M(1024)}"},
      {"f32[8]{0:M(0)}", "f32[8]{0}"},
      {"f32[8]{0:}", "f32[8]{0}"},
      {"f32[8,8]{1,0:D(D,C)}"},
      {"f32[8,8]{1,0:D(D, C+~)}", "f32[8,8]{1,0:D(D,C+~)}"},
      {"f32[8,8]{1,0:D(D,D)}", "f32[8,8]{1,0}"},
      {"s4[8,<=8]{1,0:D(C,S)T(8)(2,1)L(2)#(u32)*(u16)E(4)S(1)SC(0:4)P(s4[9]{0})M(8)}"},
      {"s4[8]{0:M(8)S(1)E(4)L(2)T(8)}", "s4[8]{0:T(8)L(2)E(4)S(1)M(8)}"},
      // Types without dimensions.
      {"token[]"},
      {"token[]{}", "token[]"},
      {"opaque[]"},
      {"opaque_type[]", "opaque[]"},
      // Tuples and buffers.
      {"()"},
      {"( )", "()"},
      {"(f32[2]{0})"},
      {"(f32[2]{0}, (s32[], ()), token[])"},
      {"(f32[2],s32[])", "(f32[2], s32[])"},
      {"(f32[], f32[], f32[], f32[], f32[], f32[])",
       "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"},
      {"(f32[], f32[], f32[], f32[], f32[], /*index=5*/(f32[], s32[]))"},
      {"(s1[], s1[], s1[], s1[], s1[], /*index=5*/s1[], s1[], s1[], s1[], s1[], /*index=10*/s1[])"},
      {"b(f32[2]{0})"},
      {"b(f32[2]{0:S(1)})"},
      {"(b(f32[2]), b(s32[]))"},
      // Blanks and comments may stand anywhere.
      {"/*a*/ ( f32[2] /*b*/ {0} , // c\n s32[] )", "(f32[2]{0}, s32[])"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(ReprintShape(c.in), c.expected()) << c.in;
}

TEST(TextShape, SaysWhatIsWrong) {
  constexpr TextCase kCases[] = {
      {"", "expected a shape, but the text ends here"},
      {"f33[2]", "unknown element type 'f33'"},
      {"tuple[2]", "unknown element type 'tuple'"},
      {"buffer[]", "unknown element type 'buffer'"},
      {"invalid[]", "unknown element type 'invalid'"},
      {"f32", "expected '[' after the element type, but the text ends here"},
      {"f32(2)", "expected '[' after the element type, found '('"},
      {"f32[2", "expected ',' or ']' in the dimensions, but the text ends here"},
      {"f32[2 3]", "expected ',' or ']' in the dimensions, found '3'"},
      {"f32[,]", "expected a dimension, found ','"},
      {"f32[x]", "expected a dimension, found 'x'"},
      {"f32[-1]", "a dimension is negative"},
      {"f32[<=]", "expected the bound of a dimension, found ']'"},
      {"f32[18446744073709551615]", "a dimension is negative"},
      {"f32[99999999999999999999]", "the number does not fit in 64 bits"},
      {"token[2]", "token has no dimensions"},
      {"f32[2,2]{0}", "the layout orders 1 dimensions, the shape has 2"},
      {"f32[2,2]{0,0}", "the layout's minor-to-major order is not a permutation"},
      {"f32[2]{1}", "the layout's minor-to-major order is not a permutation"},
      {"f32[2]{0:X(1)}", "expected a part of a layout: D T L # * E S SC P or M, found 'X'"},
      {"f32[2]{0:T}", "expected '(' of a tile, found '}'"},
      {"f32[2]{0:T()}", "expected a number, found ')'"},
      {"f32[2]{0:T(0)}", "a tile's size is not positive"},
      {"f32[2]{0:T(-8)}", "a tile's size is not positive"},
      {"f32[2]{0:S(-1)}", "a number in a layout is negative"},
      {"f32[2]{0:#(q8)}", "unknown element type 'q8'"},
      {"f32[2]{0:SC(0)}", "expected ':' in a split, found ')'"},
      {"f32[2]{0:D(X)}", "expected a dimension's level type, found 'X'"},
      {"f32[2]{0:P(f32[4]{0:P(f32[8]{0})})}",
       "expected a part of a layout: D T L # * E S SC P or M, found 'P'"},
      {"f32[2]{0:P((f32[4]))}", "expected a shape, found '('"},
      {"f32[2]{0", "expected '}' at the end of the layout, but the text ends here"},
      {"(f32[2]", "expected ')' or ',' in a tuple shape, but the text ends here"},
      {"(f32[2] s32[])", "expected ')' or ',' in a tuple shape, found 's32'"},
      {"(,)", "expected a shape, found ','"},
      {"b()", "a buffer b(...) holds exactly one shape"},
      {"b(f32[], f32[])", "a buffer b(...) holds exactly one shape"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(ReprintShape(c.in), c.out) << c.in;
}

std::string Nested(size_t depth) {
  return std::string(depth, '(') + "f32[]" + std::string(depth, ')');
}

TEST(TextShape, TuplesMayNestDeep) {
  EXPECT_EQ(ReprintShape(Nested(1000)), Nested(1000));
  constexpr size_t kMax = hlo::ShapeTable::kMaxDepth;
  EXPECT_EQ(ReprintShape(Nested(kMax)), Nested(kMax));
  EXPECT_EQ(ReprintShape(Nested(kMax + 1)), "tuples are nested more than 2000 deep");
  EXPECT_EQ(ReprintShape(Nested(1'000'000)), "tuples are nested more than 2000 deep");
  EXPECT_EQ(ReprintShape(std::string(1'000'000, '(')), "tuples are nested more than 2000 deep");
}

TEST(TextShape, BuffersCountAsDepth) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "b(";
  EXPECT_EQ(ReprintShape(text), "tuples are nested more than 2000 deep");
}

TEST(TextShape, ArraysHaveFewDimensions) {
  const auto ones = [](int count) {
    std::string text = "f32[1";
    for (int i = 1; i < count; ++i) text += ",1";
    return text + "]";
  };
  EXPECT_EQ(ReprintShape(ones(256)), ones(256));
  EXPECT_EQ(ReprintShape(ones(257)), "more than 256 dimensions");
}

TEST(TextShape, EqualShapesAreOneRow) {
  hlo::ShapeTable shapes;
  const auto id = text::ParseShapeText("(f32[2]{0}, f32[2]{0})", shapes);
  const auto same = text::ParseShapeText("( f32[2] {0},f32[ 2 ]{0} )", shapes);
  const auto other = text::ParseShapeText("(f32[2]{0}, f32[2])", shapes);
  ASSERT_TRUE(id && same && other);
  EXPECT_EQ(*id, *same);
  EXPECT_NE(*id, *other);
  EXPECT_EQ(shapes.elements(*id)[0], shapes.elements(*id)[1]);
  EXPECT_EQ(shapes.size(), 4U);  // f32[2]{0}, its pair, f32[2], the mixed pair
}

TEST(TextShape, ShapeTextIsAllOfTheText) {
  hlo::ShapeTable shapes;
  EXPECT_TRUE(text::ParseShapeText(" f32[2]{0} ", shapes));
  EXPECT_FALSE(text::ParseShapeText("f32[2]{0} f32[2]", shapes));
  EXPECT_FALSE(text::ParseShapeText("f32[2]{0}x", shapes));
  EXPECT_FALSE(text::ParseShapeText("", shapes));
}

}  // namespace
}  // namespace stowplan
