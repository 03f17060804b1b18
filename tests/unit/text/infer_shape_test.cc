// SPDX-License-Identifier: Apache-2.0
// Shapes that people leave out when they write HLO by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/text/reading.h"

namespace stowplan {
namespace {

TEST(TextInferShape, FollowsFromTheOperands) {
  constexpr TextCase kCases[] = {
      // As the operand.
      {"%x = add(%a, %b)", "%x = f32[4]{0} add(%a, %b)"},
      {"%x = negate(%m)", "%x = f32[4,4]{1,0} negate(%m)"},
      {"%x = copy(%t)", "%x = (f32[4]{0}, s32[]) copy(%t)"},
      {"%x = select(%ok, %a, %b)", "%x = f32[4]{0} select(%ok, %a, %b)"},
      {"%x = clamp(%z, %z, %z)", "%x = f32[] clamp(%z, %z, %z)"},
      {"%x = dynamic-update-slice(%a, %a, %i)", "%x = f32[4]{0} dynamic-update-slice(%a, %a, %i)"},
      {"%x = reverse(%a), dimensions={0}", "%x = f32[4]{0} reverse(%a), dimensions={0}"},
      {"%x = while(%a), condition=%small, body=%double",
       "%x = f32[4]{0} while(%a), condition=%small, body=%double"},
      // Another element type.
      {"%x = compare(%a, %b), direction=LT", "%x = pred[4]{0} compare(%a, %b), direction=LT"},
      {"%x = is-finite(%a)", "%x = pred[4]{0} is-finite(%a)"},
      {"%x = complex(%a, %b)", "%x = c64[4]{0} complex(%a, %b)"},
      {"%x = real(complex(%a, %b))", "%x = f32[4]{0} real(%complex)"},
      // Tuples.
      {"%x = tuple(%a, %t, %tok)",
       "%x = (f32[4]{0}, (f32[4]{0}, s32[]), token[]) tuple(%a, %t, %tok)"},
      {"%x = tuple()", "%x = () tuple()"},
      {"%x = get-tuple-element(%t), index=1", "%x = s32[] get-tuple-element(%t), index=1"},
      {"%x = after-all(%tok)", "%x = token[] after-all(%tok)"},
      {"%x = all-reduce(%a), replica_groups={}, to_apply=%sum",
       "%x = f32[4]{0} all-reduce(%a), replica_groups={}, to_apply=%sum"},
      {"%x = sort(%a, %b), dimensions={0}, to_apply=%less",
       "%x = (f32[4]{0}, f32[4]{0}) sort(%a, %b), dimensions={0}, to_apply=%less"},
      // Other dimensions.
      {"%x = dot(%m, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "%x = f32[4]{0} dot(%m, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
      {"%x = dot(%v, %v), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={0,2}, "
       "rhs_contracting_dims={1}",
       "%x = f32[1,4,4,4]{3,2,1,0} dot(%v, %v), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, "
       "rhs_batch_dims={0,2}, rhs_contracting_dims={1}"},
      {"%x = reduce(%v, %z), dimensions={1,3}, to_apply=%sum",
       "%x = f32[1,4]{1,0} reduce(%v, %z), dimensions={1,3}, to_apply=%sum"},
      {"%x = concatenate(%m, %m), dimensions={0}",
       "%x = f32[8,4]{1,0} concatenate(%m, %m), dimensions={0}"},
      {"%x = slice(%m), slice={[0:4:3], [1:3]}",
       "%x = f32[2,2]{1,0} slice(%m), slice={[0:4:3], [1:3:1]}"},
      {"%x = pad(%m, %z), padding=1_2x0_0_1",
       "%x = f32[7,7]{1,0} pad(%m, %z), padding=1_2_0x0_0_1"},
      {"%x = dynamic-slice(%a, %i), dynamic_slice_sizes={2}",
       "%x = f32[2]{0} dynamic-slice(%a, %i), dynamic_slice_sizes={2}"},
      {"%x = reduce-window(%m, %z), window={size=2x3 stride=2x1 pad=0_0x1_1}, to_apply=%sum",
       "%x = f32[2,4]{1,0} reduce-window(%m, %z), window={size=2x3 stride=2x1 pad=0_0x1_1}, "
       "to_apply=%sum"},
      {"%x = convolution(%v, %v), window={size=4x4 pad=1_1x2_2}, dim_labels=b01f_o01i->b01f",
       "%x = f32[1,3,5,1]{3,2,1,0} convolution(%v, %v), window={size=4x4 pad=1_1x2_2}, "
       "dim_labels=b01f_o01i->b01f"},
      // What is called.
      {"%x = call(%a), to_apply=%double", "%x = f32[4]{0} call(%a), to_apply=%double"},
      {"%x = fusion(%a), kind=kLoop, calls=%small",
       "%x = pred[] fusion(%a), kind=kLoop, calls=%small"},
      {"%x = conditional(%ok, %a, %a), true_computation=%double, false_computation=%double",
       "%x = f32[4]{0} conditional(%ok, %a, %a), true_computation=%double, "
       "false_computation=%double"},
      {"%x = conditional(%i, %a), branch_computations={%double}",
       "%x = f32[4]{0} conditional(%i, %a), branch_computations={%double}"},
      // Nothing to follow from.
      {"%x = partition-id()", "%x = u32[] partition-id()"},
      {"%x = replica-id()", "%x = u32[] replica-id()"},
      {"%x = get-dimension-size(%a), dimensions={0}",
       "%x = s32[] get-dimension-size(%a), dimensions={0}"},
  };
  for (const TextCase& c : kCases) EXPECT_EQ(ReprintInstruction(c.in), c.out) << c.in;
}

TEST(TextInferShape, WithoutLayoutsNoneAreMadeUp) {
  EXPECT_EQ(ReprintRoot("ENTRY e {\n  a = f32[2,3] parameter(0)\n"
                        "  ROOT t = transpose(a), dimensions={1,0}\n}\n"),
            "t = f32[3,2] transpose(a), dimensions={1,0}");
}

// Bodies in place of names are read later than the instructions that call them.
TEST(TextInferShape, FollowsFromTheRootOfABodyInPlace) {
  const auto root = [](const std::string& instructions) {
    return ReprintRoot("ENTRY e {\n  a = f32[2] parameter(0)\n  i = s32[] parameter(1)\n" +
                       instructions + "\n}\n");
  };
  EXPECT_EQ(root("  ROOT x = call(a), to_apply={ ROOT r = f32[2] parameter(0) }"),
            "x = f32[2] call(a), to_apply=computation.1");
  EXPECT_EQ(
      root("  ROOT x = fusion(a), kind=kLoop, calls={\n    p = f32[2] parameter(0) // }\n"
           "    c = pred[2] compare(p, p), direction=EQ, metadata={op_name=\"} ROOT q = u8[]\"}\n"
           "    n = f32[2] call(p), to_apply={ ROOT ROOT = f32[2] parameter(0) }\n"
           "    ROOT %r.1 = (f32[2], pred[2]) tuple(n, c)\n  }"),
      "x = (f32[2], pred[2]) fusion(a), kind=kLoop, calls=computation.1");
  EXPECT_EQ(root("  y = conditional(i, a, a), branch_computations={\n"
                 "    { p = f32[2] parameter(0) ROOT q = pred[2] is-finite(p) },\n"
                 "    { p = f32[2] parameter(0) ROOT q = pred[2] is-finite(p) } }\n"
                 "  ROOT x = not(y)"),
            "x = pred[2] not(y)");
  EXPECT_EQ(root("  ROOT x = call(a), to_apply={ p = f32[2] parameter(0) }"),
            "x = f32[2] call(a), to_apply=computation.1");
  // A body sees none of the names around it.
  EXPECT_THAT(root("  ROOT x = call(a), to_apply={ ROOT r = add(a, a) }"),
              testing::HasSubstr("is missing and cannot be inferred"));
}

TEST(TextInferShape, MissingShapesThatDoNotFollowAreErrors) {
  for (const char* instruction : {
           "parameter(0)",
           "constant(1)",
           "iota(), iota_dimension=0",
           "reshape(%a)",
           "broadcast(%a), dimensions={0}",
           "convert(%a)",
           "bitcast-convert(%a)",
           "custom-call(%a), custom_call_target=\"f\"",
           "rng(%a, %a), distribution=rng_uniform",
           "gather(%a, %j)",
           "get-tuple-element(%a), index=0",
           "get-tuple-element(%t), index=2",
           "get-tuple-element(%t), index=-1",
           "get-tuple-element(%t)",
           "call(%a)",
           "slice(%a), slice={[3:1]}",
           "slice(%a), slice={[0:9]}",
           "slice(%a), slice={[0:4:0]}",
           "slice(%a), slice={[0:1], [0:1]}",
           "pad(%a, %z), padding=-9_0",
           "pad(%a, %z), padding=9223372036854775807_9223372036854775807",
           "transpose(%m), dimensions={0,7}",
           "transpose(%m), dimensions={0}",
           "concatenate(%m, %a), dimensions={0}",
           "concatenate(%m, %m), dimensions={2}",
           "dot(%t, %t), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "dot(%m, %m), lhs_batch_dims={5}, rhs_batch_dims={5}",
           "reduce-window(%m, %z), window={size=2}, to_apply=%sum",
           "reduce-window(%a, %z), window={size=2 stride=0}, to_apply=%sum",
           "convolution(%v, %v), dim_labels=b01f_01io->b01f",
           "add()",
           "compare(%t, %t), direction=EQ",
           "new-opcode(%a)",
       }) {
    const std::string text = ReprintInstruction("%x = " + std::string(instruction));
    EXPECT_NE(text.find("error: the shape of this instruction is missing and cannot be inferred"),
              std::string::npos)
        << instruction << "\n"
        << text;
  }
}

TEST(TextInferShape, NoArithmeticOnUnboundedDimensions) {
  for (const char* instruction : {"pad(u, z), padding=0_0_1", "concatenate(u, a), dimensions={0}",
                                  "concatenate(a, u), dimensions={0}"}) {
    EXPECT_THAT(Reprint("ENTRY e {\n  u = f32[?] parameter(0)\n  a = f32[4] parameter(1)\n"
                        "  z = f32[] constant(0)\n  ROOT x = " +
                        std::string(instruction) + "\n}\n"),
                testing::HasSubstr("is missing and cannot be inferred"))
        << instruction;
  }
}

}  // namespace
}  // namespace stowplan
