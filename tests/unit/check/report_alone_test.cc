// SPDX-License-Identifier: Apache-2.0
// What a report says of itself: alignments, and the fast memory of TPUs.
#include <string>
#include <string_view>

#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

Verdict CheckAlone(const std::string& text, std::string_view name = "report.txt") {
  const std::shared_ptr<const Source> source = Source::FromBytes(std::string(name), text);
  const Result<report::Report> report = report::ReadReport(std::span(&source, 1));
  EXPECT_TRUE(report.has_value()) << (report ? "" : Render(report.error()));
  return CheckReport(*report);
}

std::string At(std::string_view color, int offset, std::string_view shape) {
  return "BufferAssignment:\nallocation 0: size 65536" + std::string(color) +
         ", preallocated-temp:\n value: <1 a @" +
         (color.empty() ? "0" : std::string(color.substr(8))) +
         "> (size=512,offset=" + std::to_string(offset) + "): " + std::string(shape) + "\n";
}

int Misaligned(const Verdict& verdict) {
  int count = 0;
  for (const Finding& finding : verdict.findings) count += finding.code == Code::kAlignment ? 1 : 0;
  EXPECT_TRUE(verdict.is_sound());
  return count;
}

TEST(ReportAlone, Alignment) {
  constexpr std::string_view kGpu = "m.sm_9.0_gpu_after_optimizations-buffer-assignment.txt";
  constexpr std::string_view kTiled = "f32[8,16]{1,0:T(8,128)}";
  EXPECT_EQ(Misaligned(CheckAlone(At("", 16, "f32[128]{0}"))), 0);
  EXPECT_EQ(Misaligned(CheckAlone(At("", 8, "f32[128]{0}"))), 1);
  EXPECT_EQ(Misaligned(CheckAlone(At("", 256, "f32[128]{0}"), kGpu)), 0);
  EXPECT_EQ(Misaligned(CheckAlone(At("", 128, "f32[128]{0}"), kGpu)), 1);
  EXPECT_EQ(Misaligned(CheckAlone(At("", 16384, kTiled))), 0);
  EXPECT_EQ(Misaligned(CheckAlone(At("", 8192, kTiled))), 1);
  EXPECT_EQ(Misaligned(CheckAlone(At(", color 1", 4096, kTiled))), 0);
  EXPECT_EQ(Misaligned(CheckAlone(At(", color 1", 2048, kTiled))), 1);
  EXPECT_EQ(Misaligned(CheckAlone(At(", color 2", 4, kTiled))), 0);
  EXPECT_EQ(Misaligned(CheckAlone(At(", color 6", 512, kTiled))), 0);
  EXPECT_EQ(Misaligned(CheckAlone(At(", color 6", 256, kTiled))), 1);
}

// Two values in fast memory; the second one is written by `writer` while the first one is alive
// until `reader` reads it.
std::string Fast(std::string_view writer, std::string_view reader, int offset = 0) {
  const std::string shape = "f32[8,128]{1,0:T(8,128)S(1)}";
  return "BufferAssignment:\nallocation 0: size 8192, color 1, preallocated-temp:\n"
         " value: <1 a @1> (size=4096,offset=" +
         std::to_string(offset) + "): " + shape +
         "\n"
         " value: <2 b @1> (size=8192,offset=0): " +
         shape +
         "\n"
         "allocation 1: size 4096, maybe-live-out:\n"
         " value: <3 r @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}\n"
         "\nTotal bytes used: 12288 (12.0KiB)\n\nUsed values:\n"
         "<1 a @1>\n positions:\n  a\n uses:\n  r, operand 0\n"
         " from instruction: %a = " +
         shape +
         " negate(%p)\n"
         "<2 b @1>\n positions:\n  b\n uses:\n  r, operand 1\n"
         " from instruction: %b = " +
         shape + " " + std::string(writer) +
         "\n"
         "<3 r @0>\n positions:\n  r\n uses:\n"
         " from instruction: %r = f32[8,128]{1,0:T(8,128)} " +
         std::string(reader) +
         "\n"
         "\n\nHloLiveRange (max 3):\n  InstructionSequence:\n    0:a\n    1:b\n    2:r\n"
         "  BufferLiveRange:\n    a{}:0-" +
         (offset == 4096 ? "1" : "2") +
         "\n    b{}:1-2\n    r{}:2-3\n"
         "  Live ranges at 1 (peak):\n    a{}: 4096 bytes\n    b{}: 4096 bytes\n";
}

TEST(ReportAlone, FastMemory) {
  EXPECT_EQ(Summary(CheckAlone(Fast("exponential(%p)", "add(%a, %b)"))), "alive-together a b\n");
  // Which branch reads it, only the program tells.
  const Verdict branches = CheckAlone(Fast("exponential(%p)", "conditional(%q, %a, %b)"));
  EXPECT_EQ(Summary(branches), "");
  EXPECT_FALSE(branches.is_sound());
  EXPECT_EQ(branches.doubt,
            "a and b share bytes, and only the program tells whether that is right");
  // Slices that lie side by side are one array.
  const std::string_view join = "custom-call(%a), custom_call_target=\"ConcatBitcast\"";
  EXPECT_TRUE(CheckAlone(Fast(join, "negate(%b)", 4096)).is_sound());
  EXPECT_EQ(Summary(CheckAlone(Fast("exponential(%a)", "negate(%b)", 4096))),
            "alive-together a b\n");
}

// XLA prints what a branch returns until another branch has made the same. What is there in between
// is right if it is in that other branch; the last known reader is r.
TEST(ReportAlone, WhatABranchReturns) {
  const auto text = [](std::string_view color, std::string_view reader) {
    const std::string shape = "f32[8,128]{1,0:T(8,128)S(1)}";
    const auto value = [&](int number, const std::string& name, const std::string& use) {
      return "<" + std::to_string(number) + " " + name + " @" + std::string(color) +
             ">\n positions:\n  " + name + "\n uses:\n  " + use +
             ", operand 0\n from instruction: %" + name + " = " + shape + " negate(%p)\n";
    };
    const auto place = [&](int number, const std::string& name) {
      return " value: <" + std::to_string(number) + " " + name + " @" + std::string(color) +
             "> (size=4096,offset=0): " + shape + "\n";
    };
    return "BufferAssignment:\nallocation 0: size 4096" +
           (color == "0" ? std::string() : ", color " + std::string(color)) +
           ", preallocated-temp:\n" + place(1, "a") + place(2, "b") + place(3, "d") +
           "\nTotal bytes used: 4096 (4.0KiB)\n\nUsed values:\n" +
           value(1, "a", std::string(reader)) + value(2, "b", "e") + value(3, "d", "e") +
           "\n\nHloLiveRange (max 6):\n  InstructionSequence:\n"
           "    0:a\n    1:r\n    2:b\n    3:e\n    4:d\n    5:f\n"
           "  BufferLiveRange:\n    a{}:0-4\n    b{}:2-3\n    d{}:4-5\n"
           "  Live ranges at 2 (peak):\n    a{}: 4096 bytes\n    b{}: 4096 bytes\n";
  };
  const Verdict fast = CheckAlone(text("1", "r"));
  EXPECT_EQ(Summary(fast), "");
  EXPECT_NE(fast.doubt, "");
  EXPECT_EQ(Summary(CheckAlone(text("1", "e"))), "alive-together a b\n");
  EXPECT_EQ(Summary(CheckAlone(text("0", "r"))), "alive-together a b\n");
}

// Elements of one loop in one place: right if they are always equal.
TEST(ReportAlone, ElementsOfOneLoop) {
  const auto text = [](std::string_view phi, int second) {
    const auto value = [&](int number) {
      return "<" + std::to_string(number) + " w{" + std::to_string(number) + "}" +
             std::string(phi) + " @0>";
    };
    return "BufferAssignment:\nallocation 0: size 32, maybe-live-out:\n value: " + value(0) +
           " (size=16,offset=0): f32[4]{0}\n value: " + value(1) +
           " (size=16,offset=" + std::to_string(second) +
           "): f32[4]{0}\n\nTotal bytes used: 32 (32B)\n\nUsed values:\n" + value(0) +
           "\n positions:\n  w {0}\n uses:\n" + value(1) +
           "\n positions:\n  w {1}\n uses:\n\n\nHloLiveRange (max 1):\n"
           "  InstructionSequence:\n    0:w\n  BufferLiveRange:\n    w{0}:0-1\n    w{1}:0-0\n"
           "  Live ranges at 0 (peak):\n    w{0}: 16 bytes\n    w{1}: 16 bytes\n";
  };
  const Verdict loop = CheckAlone(text(" (phi)", 0));
  EXPECT_EQ(Summary(loop), "");
  EXPECT_NE(loop.doubt, "");
  EXPECT_EQ(Summary(CheckAlone(text("", 0))), "alive-together w{1} w{0}\n");
  EXPECT_EQ(Summary(CheckAlone(text(" (phi)", 8))), "alive-together w{1} w{0}\n");
}

// Two parts of a result in one place, because both are declared to lie on one operand.
TEST(ReportAlone, ACollectiveUnderWay) {
  const auto text = [](std::string_view aliasing) {
    const std::string fusion =
        " from instruction: %f = (f32[4]{0}, f32[4]{0}) fusion(%q, %p), kind=kOutput, "
        "output_to_operand_aliasing={" +
        std::string(aliasing) + "}, calls=%c\n";
    return "BufferAssignment:\nallocation 0: size 16, maybe-live-out:\n"
           " value: <0 f{0} @0> (size=16,offset=0): f32[4]{0}\n"
           " value: <1 f{1} @0> (size=16,offset=0): f32[4]{0}\n"
           "\nTotal bytes used: 16 (16B)\n\nUsed values:\n"
           "<0 f{0} @0>\n positions:\n  f {0}\n uses:\n" +
           fusion + "<1 f{1} @0>\n positions:\n  f {1}\n uses:\n" + fusion +
           "\n\nHloLiveRange (max 1):\n  InstructionSequence:\n    0:f\n"
           "  BufferLiveRange:\n    f{0}:0-1\n    f{1}:0-0\n"
           "  Live ranges at 0 (peak):\n    f{0}: 16 bytes\n    f{1}: 16 bytes\n";
  };
  EXPECT_EQ(Summary(CheckAlone(text("{0}: (1, {}), {1}: (1, {})"))), "");
  EXPECT_EQ(Summary(CheckAlone(text("{0}: (1, {}), {1}: (0, {})"))), "alive-together f{1} f{0}\n");
}

// Two cores have a half each.
TEST(ReportAlone, SplitArraysTakeLess) {
  const auto text = [](std::string_view layout) {
    return "BufferAssignment:\nallocation 0: size 2048, maybe-live-out:\n"
           " value: <0 a @0> (size=2048,offset=0): f32[1024]{" +
           std::string(layout) + "}\n";
  };
  EXPECT_TRUE(CheckAlone(text("0:T(1024)SC(0:512)")).is_fine());
  EXPECT_FALSE(CheckAlone(text("0:T(1024)")).is_fine());
}

}  // namespace
}  // namespace stowplan::check
