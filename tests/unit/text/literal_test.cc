// SPDX-License-Identifier: Apache-2.0
// constant(...)
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

struct LiteralCase {
  std::string_view shape;
  std::string_view in;
  std::string_view out = {};
};

// The literal printed, or the first error.
std::string ReprintLiteral(std::string_view shape, std::string_view literal) {
  const std::string head = "x = " + std::string(shape) + " constant(";
  const auto module = Parse("ENTRY e {\n  ROOT " + head + std::string(literal) + ")\n}\n");
  if (!module) return module.error()[0].message;
  std::string line;
  hlo::AppendInstruction(*module, module->computations[module->entry].root, module->dialect, line);
  return line.substr(head.size(), line.size() - head.size() - 1);
}

TEST(TextLiteral, PrintsAsXlaDoes) {
  constexpr LiteralCase kCases[] = {
      // Scalars.
      {"f32[]", "1"},
      {"f32[]", " -1.5e-10 ", "-1.5e-10"},
      {"f32[]", "1e+20"},
      {"f32[]", "inf"},
      {"f32[]", "-inf"},
      {"f32[]", "nan"},
      {"f32[]", "-nan"},
      {"f32[]", "nan(0x7f)"},
      {"f32[]", "-nan(0x1)"},
      {"pred[]", "true"},
      {"s32[]", "-2147483648"},
      {"u64[]", "18446744073709551615"},
      {"c64[]", "(1, 2)"},
      {"c64[]", "( 1 ,nan(0x1) )", "(1, nan(0x1))"},
      {"c128[]", "(-inf, -0.5)"},
      // One dimension.
      {"s32[3]{0}", "{1, 2, 3}"},
      {"s32[3]{0}", "{ 1,2 , 3 }", "{1, 2, 3}"},
      {"s32[1]{0}", "{1}"},
      {"s32[0]{0}", "{}"},
      {"pred[2]{0}", "{1, 0}"},
      {"c64[2]{0}", "{(1,2),(3.5,-4)}", "{(1, 2), (3.5, -4)}"},
      {"f32[2]{0}", "{/*first*/ 1, // second\n 2}", "{1, 2}"},
      {"s4[2]", "{1, -2}"},
      // More.
      {"s32[2,2]{1,0}", "{{1,2},{3,4}}", "{ { 1, 2 }, { 3, 4 } }"},
      {"s32[2,2]{1,0}", "{ {1, 2} {3, 4} }", "{ { 1, 2 }, { 3, 4 } }"},
      {"s32[2,1]{1,0}", "{{1},{2}}", "{ {1}, {2} }"},
      {"s32[1,2]{1,0}", "{ { 1, 2 } }"},
      {"c64[1,1]{1,0}", "{{(1,2)}}", "{ {(1, 2)} }"},
      {"s32[2,1,2]{2,1,0}", "{{{1,2}},{{3,4}}}", "{ { { 1, 2 } }, { { 3, 4 } } }"},
      {"s32[1,2,1,2]{3,2,1,0}", "{{{{1,2}},{{3,4}}}}",
       "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 } }, { /*i1=1*/ { 3, 4 } } } }"},
      {"s32[1,1,2,1,2]{4,3,2,1,0}", "{{{{{1,2}},{{3,4}}}}}",
       "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ { 1, 2 } }, { /*i2=1*/ { 3, 4 } } } } }"},
      // Without elements.
      {"s32[2,0]{1,0}", "{{},{}}", "{ {}, {} }"},
      {"s32[0,2]{1,0}", "{}", "{  }"},
      {"s32[2,0,2]{2,1,0}", "{{},{}}", "{ {  }, {  } }"},
      {"s32[1,0,1,2]{3,2,1,0}", "{{}}", "{ { /*i0=0*/ } }"},
      {"s32[1,1,0,2]{3,2,1,0}", "{{{}}}", "{ { /*i0=0*/ { /*i1=0*/ } } }"},
      {"s32[1,1,1,0]{3,2,1,0}", "{{{{}}}}", "{ { /*i0=0*/ { /*i1=0*/ {} } } }"},
      // Left out.
      {"f32[1000]{0}", "{...}"},
      {"f32[2,2]{1,0}", "{ ... }", "{...}"},
      {"(f32[], s32[])", "{...}"},
      // Tuples, as written.
      {"(s32[], f32[2]{0})", "( 1, {2, 3} )"},
  };
  for (const LiteralCase& c : kCases) {
    EXPECT_EQ(ReprintLiteral(c.shape, c.in), c.out.empty() ? c.in : c.out) << c.shape << c.in;
  }
}

TEST(TextLiteral, SaysWhatIsWrong) {
  constexpr LiteralCase kCases[] = {
      {"s32[2]{0}", "{1}",
       "the literal has 1 elements in 1 levels of braces, which is not its shape s32[2]"},
      {"s32[2]{0}", "{{1, 2}}",
       "the literal has 2 elements in 2 levels of braces, which is not its shape s32[2]"},
      {"s32[]", "{1}",
       "the literal has 1 elements in 1 levels of braces, which is not its shape s32[]"},
      {"s32[0]{0}", "1",
       "the literal has 1 elements in 0 levels of braces, which is not its shape s32[0]"},
      {"c64[2]{0}", "(1, 2)",
       "the literal has 1 elements in 0 levels of braces, which is not its shape c64[2]"},
      {"f32[9223372036854775807,3]", "1",
       "the literal has 1 elements in 0 levels of braces, which is not its shape "
       "f32[9223372036854775807,3]"},
      {"s32[2]{0}", "{1 2}", "expected ',' or '}' in a literal, found '2'"},
      {"s32[2]{0}", "{1, }",
       "the literal has 1 elements in 1 levels of braces, which is not its shape s32[2]"},
      {"s32[2]{0}", "{1, 2", "expected ',' or '}' in a literal, found ')'"},
      {"s32[]", "", "expected a value, found ')'"},
      {"c64[]", "(1)", "expected ',' in a complex number, found ')'"},
      {"f32[9223372036854775807,3]", "{1}",
       "the literal has 1 elements in 1 levels of braces, which is not its shape "
       "f32[9223372036854775807,3]"},
  };
  for (const LiteralCase& c : kCases) {
    EXPECT_EQ(ReprintLiteral(c.shape, c.in), c.out) << c.shape << c.in;
  }
}

// Rows of nothing are braces, one beside the other: there may be more than memory holds.
TEST(TextLiteral, EmptyRowsWithoutEnd) {
  EXPECT_EQ(ReprintLiteral("f32[3,0]{1,0}", "{}"), "{ {}, {}, {} }");
  EXPECT_EQ(ReprintLiteral("f32[4611686018427387904,0]{1,0}", "{}"), "{...}");
  EXPECT_EQ(ReprintLiteral("f32[4611686018427387904,4611686018427387904,0]{2,1,0}", "{}"), "{...}");
  EXPECT_EQ(ReprintLiteral("f32[0,4611686018427387904,4611686018427387904]{2,1,0}", "{}"), "{  }");
}

// XLA sets the first element of an array to a bare number. No array is too large for that.
TEST(TextLiteral, NumbersForArrays) {
  constexpr LiteralCase kCases[] = {
      {"f32[3]{0}", "-1.5", "{-1.5, 0, 0}"},
      {"f32[1]{0}", " /*one*/ 7", "{7}"},
      {"f32[2,2]{1,0}", "0", "{ { 0, 0 }, { 0, 0 } }"},
      {"f32[2]{0}", "nan(0x7)", "{nan(0x7), 0}"},
      {"pred[2]{0}", "true", "{1, 0}"},
      {"f32[10]{0}", "1", "{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}"},
      {"f32[11]{0}", "1", "{...}"},
      {"f32[4096,4096]{1,0}", "0", "{...}"},
      {"s8[4611686018427387904]{0}", "3", "{...}"},
  };
  for (const LiteralCase& c : kCases) {
    EXPECT_EQ(ReprintLiteral(c.shape, c.in), c.out) << c.shape << c.in;
  }
}

TEST(TextLiteral, BracesMayNotNestWithoutEnd) {
  EXPECT_EQ(ReprintLiteral("f32[1]", std::string(1'000'000, '{')), "a literal is nested too deep");
  EXPECT_NE(ReprintLiteral("c64[]", std::string(1'000'000, '(')), "");
  EXPECT_NE(ReprintLiteral("(f32[])", std::string(1'000'000, '(')), "");
}

// Before 2019 the shape stood in the parentheses too.
TEST(TextLiteral, OldConstantsRepeatTheShape) {
  constexpr std::string_view kText = R"(HloModule m

ENTRY %e () -> f32[] {
  %a = f32[2]{0} constant(f32[2] {1, 2})
  %b = f32[2,2]{1,0} constant(f32[2,2] { { 1, 2 }, { 3, 4 } })
  %c = s32[0]{0} constant(s32[0] {})
  ROOT %d = f32[] constant(f32[] 1)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

}  // namespace
}  // namespace stowplan
