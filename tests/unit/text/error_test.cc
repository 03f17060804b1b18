// SPDX-License-Identifier: Apache-2.0
// What the text reader says about bad input: exact messages, all errors of a file.
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

std::string Errors(std::string_view text) {
  const auto module = Parse(text);
  return module ? "accepted:\n" + hlo::ToString(*module) : Render(module.error());
}

TEST(TextErrors, OfModules) {
  constexpr TextCase kCases[] = {
      {"", R"(test.hlo:1:1: error: the text is empty

  ^
)"},
      {"  // nothing\n", R"(test.hlo:2:1: error: the text is empty

  ^
)"},
      {"HloModule", R"(test.hlo:1:10: error: expected the module's name, but the text ends here
  HloModule
           ^
)"},
      {"HloModule m\n", R"(test.hlo:2:1: error: the module has no computations

  ^
)"},
      {"HloModule m, is_scheduled=maybe\n",
       R"(test.hlo:1:27: error: expected true or false, found 'maybe'
  HloModule m, is_scheduled=maybe
                            ^
)"},
      {"HloModule m, input_output_alias={ {0}: (0, {}, perhaps) }\n",
       R"(test.hlo:1:48: error: expected may-alias or must-alias, found 'perhaps'
  HloModule m, input_output_alias={ {0}: (0, {}, perhaps) }
                                                 ^
)"},
      {"HloModule m, entry_computation_layout={(f32[2]->f32[2]}\n",
       R"(test.hlo:1:47: error: expected ',' between shapes, found '-'
  HloModule m, entry_computation_layout={(f32[2]->f32[2]}
                                                ^
)"},
      {"HloModule m\nFileNames\n1 \"a\"\n3 \"b\"\n", R"(test.hlo:4:1: error: expected row 2, found 3
  3 "b"
  ^
)"},
      {"HloModule m\nFileLocations\n1 {file=1}\n", R"(test.hlo:3:4: error: unknown field 'file'
  1 {file=1}
     ^~~~
)"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(Errors(c.in), c.out) << c.in;
}

TEST(TextErrors, OfComputations) {
  constexpr TextCase kCases[] = {
      {"ENTRY e {\n}\n", R"(test.hlo:1:7: error: the computation has no instructions
  ENTRY e {
        ^
)"},
      {"ENTRY e {\n  ROOT a = f32[2] parameter(0)\n",
       R"(test.hlo:3:1: error: the computation 'e' does not end

  ^
)"},
      {"ENTRY e {\n  ROOT a = f32[2] parameter(0)\n}\nENTRY f {\n  ROOT b = f32[] constant(1)\n}\n",
       R"(test.hlo:4:7: error: a second ENTRY computation
  ENTRY f {
        ^
)"},
      {"e {\n  ROOT a = f32[2] parameter(0)\n}\ne {\n  ROOT b = f32[2] parameter(0)\n}\n",
       R"(test.hlo:4:1: error: computation 'e' is defined twice
  e {
  ^
)"},
      {"ENTRY e (a: f32[2]) -> f32[3] {\n  ROOT a = f32[2] parameter(0)\n}\n",
       R"(test.hlo:1:10: error: the computation is said to return f32[3], its root has shape f32[2]
  ENTRY e (a: f32[2]) -> f32[3] {
           ^
)"},
      {"ENTRY e (a: f32[2]) f32[3] {\n  ROOT a = f32[2] parameter(0)\n}\n",
       R"(test.hlo:1:21: error: expected '->', found 'f32'
  ENTRY e (a: f32[2]) f32[3] {
                      ^
)"},
      {"ENTRY e {\n  ROOT a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n",
       R"(test.hlo:3:3: error: a second ROOT in one computation
    ROOT b = f32[2] negate(a)
    ^~~~
)"},
      {"ENTRY e {\n  ROOT a = f32[2] parameter(0)\n}\nrubbish\n",
       R"(test.hlo:5:1: error: expected '{' of the computation's body, but the text ends here

  ^
)"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(Errors(c.in), c.out) << c.in;
}

TEST(TextErrors, OfInstructions) {
  constexpr TextCase kCases[] = {
      {"  a f32[] constant(1)",
       R"(test.hlo:2:5: error: expected '=' after the instruction's name, found 'f32'
    a f32[] constant(1)
      ^
)"},
      {"  a = f32[2] parameter(x)",
       R"(test.hlo:2:24: error: expected the parameter's number, found 'x'
    a = f32[2] parameter(x)
                         ^
)"},
      {"  a = f32[] constant(1)\n  b = f32[] add(a, c)",
       R"(test.hlo:3:20: error: there is no instruction 'c' above this one
    b = f32[] add(a, c)
                     ^
)"},
      {"  a = f32[] constant(1)\n  b = f32[] add(a, %longer.name)",
       R"(test.hlo:3:20: error: there is no instruction 'longer.name' above this one
    b = f32[] add(a, %longer.name)
                     ^~~~~~~~~~~~
)"},
      {"  a = f32[] constant(1)\n  b = f32[] add(a b)",
       R"(test.hlo:3:19: error: expected ',' or ')' between operands, found 'b'
    b = f32[] add(a b)
                    ^
)"},
      {"  a = f32[] constant(1)\n  a = f32[] negate(a)",
       R"(test.hlo:3:3: error: instruction 'a' is defined twice in this computation
    a = f32[] negate(a)
    ^
)"},
      {"\ta = f32[2]\t*(0)",
       "test.hlo:2:13: error: expected an opcode, found '*'\n"
       "  \ta = f32[2]\t*(0)\n  \t          \t^\n"},
      {"  a = f32[2] \xff(0)",
       "test.hlo:2:14: error: expected an opcode, found '\\xff'\n"
       "    a = f32[2] ?(0)\n               ^\n"},
      {"  a = reshape(), dimensions={0}",
       R"(test.hlo:2:7: error: the shape of this instruction is missing and cannot be inferred
    a = reshape(), dimensions={0}
        ^~~~~~~
)"},
      // The error is seen behind the line's end, but the computation still ends.
      {"  a = f32[] constant(1", R"(test.hlo:3:1: error: expected ')' after the literal, found '}'
  }
  ^
)"},
      {"  a = f32[]", R"(test.hlo:3:1: error: expected an opcode, found '}'
  }
  ^
)"},
      {"  a = f32[] constant", R"(test.hlo:3:1: error: expected '(' after the opcode, found '}'
  }
  ^
)"},
      {"  a = f32[] constant(1),", R"(test.hlo:3:1: error: expected an attribute, found '}'
  }
  ^
)"},
  };
  for (const TextCase& c : kCases) {
    EXPECT_EQ(Errors("ENTRY e {\n" + std::string(c.in) + "\n}\n"), c.out) << c.in;
  }
}

TEST(TextErrors, OfAttributes) {
  constexpr TextCase kCases[] = {
      {"to_apply=f", R"(error: there is no computation 'f'
    a = f32[2] iota(), to_apply=f
                                ^
)"},
      {"metadata={op_name=\"x}", R"(error: this string does not end
    a = f32[2] iota(), metadata={op_name="x}
                                         ^
)"},
      {"metadata={op_name=\"\\q\"}", R"(error: a malformed escape in this string
    a = f32[2] iota(), metadata={op_name="\q"}
                                         ^
)"},
      {"sharding={replicate}", R"(error: expected a sharding, found 'replicate'
    a = f32[2] iota(), sharding={replicate}
                                 ^
)"},
      {"k=1, k=1", R"(error: attribute 'k' stands here twice
    a = f32[2] iota(), k=1, k=1
                            ^
)"},
      {"control-predecessors={b}", R"(error: there is no instruction 'b' above this one
    a = f32[2] iota(), control-predecessors={b}
                                             ^)"},
      {"iota_dimension=x", R"(error: expected a number, found 'x'
    a = f32[2] iota(), iota_dimension=x
                                      ^
)"},
      {"iota_dimension=99999999999999999999", R"(error: the number does not fit in 64 bits
    a = f32[2] iota(), iota_dimension=99999999999999999999
                                      ^)"},
      {"dimensions={1,x}", R"(error: expected a number, found 'x'
    a = f32[2] iota(), dimensions={1,x}
                                     ^
)"},
      {"is_stable=yes", R"(error: expected true or false, found 'yes'
    a = f32[2] iota(), is_stable=yes
                                 ^
)"},
      {"slice={[0-1]}", R"(error: expected ':' in a slice, found '-1'
    a = f32[2] iota(), slice={[0-1]}
                                ^
)"},
      {"padding=1x1", R"(error: a padding is low_high or low_high_interior in each dimension
    a = f32[2] iota(), padding=1x1
                               ^~~
)"},
      {"window={size=2x2 pad=1_1x1_1x1_1}",
       R"(error: the parts of this window have different numbers of dimensions
    a = f32[2] iota(), window={size=2x2 pad=1_1x1_1x1_1}
                                        ^~~
)"},
      {"window={sizes=2}",
       R"(error: expected a part of a window: size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal, found 'sizes'
    a = f32[2] iota(), window={sizes=2}
                               ^
)"},
      {"new={(]}", R"(error: expected ')', found ']'
    a = f32[2] iota(), new={(]}
                             ^
)"},
  };
  for (const TextCase& c : kCases) {
    const auto module = Parse("ENTRY e {\n  a = f32[2] iota(), " + std::string(c.in) + "\n}\n");
    ASSERT_FALSE(module) << c.in;
    EXPECT_EQ(module.error().size(), 1U) << c.in << "\n" << Render(module.error());
    const std::string text = Render(module.error()[0]);
    EXPECT_EQ(text.substr(text.find("error: "), c.out.size()), c.out) << c.in;
  }
}

TEST(TextErrors, ReadingGoesOnWithTheNextInstruction) {
  EXPECT_EQ(Errors(R"(HloModule m

f {
  p = f32[2] parameter(zero)
  q = f32[2] negate(p)
  ROOT r = f32[2] add(no, q)
}

ENTRY e {
  a = f32[2] call(b), to_apply=f
  c = f33[2] negate(a)
  d = f32[2] add(c, a)
  g = f32[2] add(d, d), direction=
  ROOT h = f32[2] add(missing, d)
}
)"),
            R"(test.hlo:4:24: error: expected the parameter's number, found 'zero'
    p = f32[2] parameter(zero)
                         ^
test.hlo:6:23: error: there is no instruction 'no' above this one
    ROOT r = f32[2] add(no, q)
                        ^~
test.hlo:10:19: error: there is no instruction 'b' above this one
    a = f32[2] call(b), to_apply=f
                    ^
test.hlo:11:7: error: unknown element type 'f33'
    c = f33[2] negate(a)
        ^~~
test.hlo:14:23: error: there is no instruction 'missing' above this one
    ROOT h = f32[2] add(missing, d)
                        ^~~~~~~
)");
}

// The errors above are followed by ones about lines that are fine, if a reader skips too much.
TEST(TextErrors, NoLineIsSkipped) {
  EXPECT_EQ(Errors(R"(ENTRY e {
  a = f32[] constant(1
  b = f32[] constant(2)
  a2 = f32[] constant(3)
  a2 = f32[] constant(4)
  c = f32[] constant(5)
  ROOT d = f32[] add(b, c)
}
)"),
            R"(test.hlo:3:3: error: expected ')' after the literal, found 'b'
    b = f32[] constant(2)
    ^
test.hlo:5:3: error: instruction 'a2' is defined twice in this computation
    a2 = f32[] constant(4)
    ^~
)");
}

TEST(TextErrors, TheFirstTwentyAreReported) {
  std::string text = "ENTRY e {\n";
  for (int i = 0; i < 30; ++i) text += "  a" + std::to_string(i) + " = f32[] negate(x)\n";
  const auto module = Parse(text + "}\n");
  ASSERT_FALSE(module);
  ASSERT_EQ(module.error().size(), kMaxErrors);
  for (uint32_t i = 0; i < kMaxErrors; ++i) EXPECT_EQ(module.error()[i].line, i + 2);
}

TEST(TextErrors, LongLinesAreCut) {
  const std::string line = "  ROOT a = f32[] add(" + std::string(10'000, 'x') + ")";
  const auto module = Parse("ENTRY e {\n" + line + "\n}\n");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error()[0].column, 22U);
  EXPECT_LT(module.error()[0].excerpt.size(), 200U);
}

TEST(TextErrors, NulBytesAreNotTheEnd) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Errors("ENTRY e {\n  ROOT a = f32[2] parameter(0)\0\n}\n"sv),
            "test.hlo:2:31: error: expected an instruction, found '\\0'\n"
            "    ROOT a = f32[2] parameter(0)?\n"
            "                                ^\n");
  for (const std::string_view text :
       {"\0"sv, "HloModule\0m\nENTRY e { ROOT a = f32[] constant(1) }"sv,
        "ENTRY e {\n ROOT a = f32[] constant(1), metadata={op_name=\"x\"\0}\n}"sv,
        "ENTRY e {\n ROOT a = f32[] constant(1), backend_config={\"x\0\":1}\n}"sv,
        "ENTRY e {\n ROOT a = f32[] constant(1)\n}\n\0"sv,
        "ENTRY e { /*\0*/ ROOT a = f32[\0] x }"sv}) {
    const auto module = Parse(text);
    if (module) continue;
    EXPECT_FALSE(module.error().empty());
  }
}

}  // namespace
}  // namespace stowplan
