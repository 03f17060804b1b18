// SPDX-License-Identifier: Apache-2.0
// Async operations in their short form (slice-start) and in full (async-start, calls=...).
#include <gtest/gtest.h>

#include "hlo/verify.h"
#include "unit/text/reading.h"

namespace stowplan {
namespace {

constexpr std::string_view kShort = R"(HloModule m

ENTRY %e (x: f32[8]) -> f32[2] {
  %x = f32[8]{0} parameter(0)
  %s = ((f32[8]{0}), f32[2]{0}, u32[]) slice-start(%x), async_execution_thread="copier", slice={[0:2]}, metadata={op_name="n"}
  %u = ((f32[8]{0}), f32[2]{0}, u32[]) slice-update(%s)
  ROOT %d = f32[2]{0} slice-done(%u), metadata={op_name="n"}
}

)";

TEST(TextAsync, ShortForm) { EXPECT_EQ(Reprint(kShort), kShort); }

TEST(TextAsync, ShortFormStandsForAComputation) {
  const auto module = Parse(kShort);
  ASSERT_TRUE(module) << Render(module.error());
  const hlo::InstrId start(size_t{1});
  EXPECT_EQ(module->instructions[start].opcode, hlo::Opcode::kAsyncStart);
  EXPECT_EQ(module->instructions[hlo::InstrId(size_t{2})].opcode, hlo::Opcode::kAsyncUpdate);
  EXPECT_EQ(module->instructions[hlo::InstrId(size_t{3})].opcode, hlo::Opcode::kAsyncDone);
  ASSERT_EQ(module->called_by(start).size(), 1U);
  const hlo::Computation& wrapper = module->computations[module->called_by(start)[0]];
  EXPECT_TRUE(wrapper.is_implicit);
  EXPECT_EQ(wrapper.count, 2U);
  EXPECT_EQ(module->instructions[wrapper.root].opcode, hlo::Opcode::kSlice);
  EXPECT_NE(module->FindAttribute(wrapper.root, hlo::AttributeKey::kSlice), nullptr);
  EXPECT_EQ(module->FindAttribute(start, hlo::AttributeKey::kSlice), nullptr);
  EXPECT_NE(module->FindAttribute(start, hlo::AttributeKey::kAsyncExecutionThread), nullptr);
  EXPECT_EQ(hlo::ToString(module->shapes, module->instructions[wrapper.root].shape), "f32[2]{0}");
}

// XLA writes the statistics of the wrapped operation and those of the start, which are the same
// unless a program sets them.
TEST(TextAsync, StatisticsTwice) {
  constexpr std::string_view kOnce =
      "ENTRY e {\n a = s32[] parameter(0)\n s = ((s32[]), s32[], s32[]) negate-start(a), "
      "statistics={visualizing_index=1,k=3}\n ROOT d = s32[] negate-done(s)\n}\n";
  const std::string twice = Reprint(kOnce);
  EXPECT_NE(twice.find("negate-start(a), statistics={visualizing_index=1,k=3}, "
                       "statistics={visualizing_index=1,k=3}\n"),
            std::string::npos)
      << twice;
  EXPECT_EQ(Reprint(twice), twice);
  std::string other = twice;
  other.replace(other.rfind("k=3"), 3, "k=4");
  EXPECT_EQ(Reprint(other), other);
  EXPECT_NE(Reprint("ENTRY e {\n ROOT a = s32[] constant(1), statistics={visualizing_index=1,k=3}, "
                    "statistics={visualizing_index=1,k=3}\n}\n")
                .find("stands here twice"),
            std::string::npos);
}

TEST(TextAsync, FullForm) {
  constexpr std::string_view kText = R"(HloModule m

%wrapper (p: f32[8]) -> f32[2] {
  %p = f32[8]{0} parameter(0)
  ROOT %s = f32[2]{0} slice(%p), slice={[0:2]}
}

ENTRY %e (x: f32[8]) -> f32[2] {
  %x = f32[8]{0} parameter(0)
  %start = ((f32[8]{0}), f32[2]{0}, u32[]) async-start(%x), calls=%wrapper
  %update = ((f32[8]{0}), f32[2]{0}, u32[]) async-update(%start)
  ROOT %done = f32[2]{0} async-done(%update)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
  // In a dialect that writes the short form, the wrapper is not shown.
  EXPECT_EQ(Reprint(kText, {}), R"(HloModule m

ENTRY %e (x: f32[8]) -> f32[2] {
  %x = f32[8]{0} parameter(0)
  %start = ((f32[8]{0}), f32[2]{0}, u32[]) slice-start(%x), slice={[0:2]}
  %update = ((f32[8]{0}), f32[2]{0}, u32[]) slice-update(%start)
  ROOT %done = f32[2]{0} slice-done(%update)
}

)");
}

TEST(TextAsync, OnlyComputationsOfOneInstructionAreShort) {
  constexpr std::string_view kText = R"(HloModule m

%two (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %n = f32[8]{0} negate(%p)
  ROOT %a = f32[8]{0} abs(%n)
}

ENTRY %e (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %s1 = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%x), calls=%two
  ROOT %d1 = f32[8]{0} async-done(%s1)
}

)";
  EXPECT_EQ(Reprint(kText, {}), kText);
}

TEST(TextAsync, AliasingAndSeveralOperands) {
  constexpr std::string_view kText = R"(HloModule m

ENTRY %e (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %s = ((f32[8]{0}, f32[8]{0}), (f32[8]{0}, f32[8]{0}), s32[]) custom-call-start(%x, %y), custom_call_target="t", output_to_operand_aliasing={{0}: (0, {})}
  ROOT %d = (f32[8]{0}, f32[8]{0}) custom-call-done(%s)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

// Work for a TPU's SparseCore: the start has neither operands nor a result, the update brings both.
TEST(TextAsync, OperandsThatComeWithTheUpdate) {
  constexpr std::string_view kText = R"(HloModule m

%f (a: f32[8]) -> f32[8] {
  ROOT %a = f32[8]{0} parameter(0)
}

ENTRY %e (x: f32[8], y: s32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = s32[8]{0} parameter(1)
  %s = ((), (), (s32[2048]{0})) custom-call-start(), async_execution_thread="sparsecore", custom_call_target="t", output_to_operand_aliasing={{}: (0, {})}, called_computations={%f}
  %u = ((f32[8]{0}, s32[8]{0}), f32[8]{0}, (s32[2048]{0})) custom-call-update(%s, %x, %y), output_to_operand_aliasing={{2,0}: (0, {2,0})}
  ROOT %d = f32[8]{0} custom-call-done(%u)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
  const auto module = Parse(kText);
  ASSERT_TRUE(module) << Render(module.error());
  EXPECT_TRUE(hlo::Verify(*module).empty()) << Render(hlo::Verify(*module));
  const hlo::Module& m = *module;
  const hlo::InstrId start(size_t{3});  // behind those of f, x and y
  const hlo::Computation& wrapper = m.computations[m.called_by(start)[0]];
  EXPECT_EQ(m.operands_of(wrapper.root).size(), 2U);
  EXPECT_EQ(hlo::ToString(m.shapes, m.instructions[wrapper.root].shape), "f32[8]{0}");
}

// Where nothing shows what is wrapped, the short form would lose it.
TEST(TextAsync, WhatTheShortFormWouldLoseIsWrittenInFull) {
  constexpr std::string_view kFull = R"(HloModule m

%wrapper (p: f32[8], q: s32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %q = s32[8]{0} parameter(1)
  ROOT %c = f32[8]{0} custom-call(%p, %q), custom_call_target="t", output_to_operand_aliasing={{}: (0, {})}
}

%plain (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%x)
}

ENTRY %e (y: f32[8]) -> f32[8] {
  %y = f32[8]{0} parameter(0)
  %s = ((), (), (s32[2048]{0})) async-start(), calls=%wrapper
  %u = ((), (), (s32[2048]{0})) async-update(%s)
  %d = () async-done(%u)
  %s2 = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%y), calls=%plain
  ROOT %d2 = f32[8]{0} async-done(%s2)
}

)";
  EXPECT_EQ(Reprint(kFull), kFull);
  const std::string mixed = Reprint(kFull, {});
  EXPECT_NE(mixed.find("async-start(), calls=%wrapper"), std::string::npos) << mixed;
  EXPECT_NE(mixed.find("async-done(%u)"), std::string::npos) << mixed;
  EXPECT_NE(mixed.find("%wrapper (p: f32[8]"), std::string::npos) << mixed;
  EXPECT_NE(mixed.find("negate-start(%y)"), std::string::npos) << mixed;
  EXPECT_EQ(mixed.find("%plain"), std::string::npos) << mixed;
  EXPECT_EQ(Reprint(mixed), mixed);
}

TEST(TextAsync, OpcodesWithFormsOfTheirOwn) {
  constexpr std::string_view kText = R"(HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %e (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %s1 = f32[8]{0} all-reduce-start(%x), replica_groups={}, to_apply=%sum
  %d1 = f32[8]{0} all-reduce-done(%s1)
  %s2 = (f32[8]{0}, f32[8]{0}) all-gather-start(%d1), replica_groups={}, dimensions={0}
  %d2 = f32[8]{0} all-gather-done(%s2)
  %s3 = (f32[8]{0}, f32[8]{0}, u32[], u32[]) collective-permute-start(%d2), source_target_pairs={{0,1}}
  %d3 = f32[8]{0} collective-permute-done(%s3)
  %s4 = (f32[8]{0:S(1)}, f32[8]{0}, u32[]{:S(2)}) copy-start(%d3), cross_program_prefetch_index=0
  ROOT %d4 = f32[8]{0:S(1)} copy-done(%s4)
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

// 2022: all three carried the computation.
TEST(TextAsync, OldTextsNameTheComputationThrice) {
  constexpr std::string_view kText = R"(HloModule m

wrapper {
  p = f32[8]{0} parameter(0)
  n = f32[8]{0} negate(p)
  ROOT a = f32[8]{0} abs(n)
}

ENTRY e {
  x = f32[8]{0} parameter(0)
  s = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(x), async_group_id=3, calls=wrapper
  u = ((f32[8]{0}), f32[8]{0}, u32[]) async-update(s), async_group_id=3, calls=wrapper
  ROOT d = f32[8]{0} async-done(u), async_group_id=3, calls=wrapper
}

)";
  EXPECT_EQ(Reprint(kText), kText);
}

TEST(TextAsync, ShapesMustFit) {
  for (const char* shape : {"f32[2]{0}", "(f32[8]{0}, f32[2]{0})", "((f32[8]{0}))", "()"}) {
    const std::string text =
        "ENTRY e {\n  x = f32[8]{0} parameter(0)\n  ROOT s = " + std::string(shape) +
        " slice-start(x), slice={[0:2]}\n}\n";
    const auto module = Parse(text);
    ASSERT_FALSE(module) << text;
    EXPECT_EQ(module.error()[0].message,
              "an async operation's shape must be ((operands), result, ...)");
  }
}

}  // namespace
}  // namespace stowplan
