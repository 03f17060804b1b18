// SPDX-License-Identifier: Apache-2.0
#include "report/replan.h"

#include <string>

#include <gmock/gmock.h>

#include "report/write.h"
#include "unit/report/example_report.h"

namespace stowplan::report::test {
namespace {

using testing::HasSubstr;

Rules RulesFor(std::string_view target) { return RulesOf(*FindTarget(target)); }

std::string Whole(const Report& report) { return WriteCombined(report, report.dialect); }

// The differences, a line each.
std::string Differences(Report report, std::string_view target = "cpu") {
  const Result<Replan> replan = ReplanReport(std::move(report), RulesFor(target));
  if (!replan) return Render(replan.error());
  std::string text;
  for (const Diagnostic& difference : replan->differences) text += difference.message + "\n";
  return text;
}

std::string With(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const size_t at = out.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << from << " is not there";
    return out;
  }
  return out.replace(at, from.size(), to);
}

// One temporary, `t`, between the parameter and the result.
std::string OneTemporary(std::string_view shape, std::string_view size,
                         std::string_view range = "1-2") {
  std::string text =
      "BufferAssignment:\n"
      "allocation 0: size 4, output shape is |f32[]|, maybe-live-out:\n"
      " value: <2 out @0> (size=4,offset=0): f32[]\n"
      "allocation 1: size 4, parameter 0, shape |f32[]| at ShapeIndex {}:\n"
      " value: <0 p @0> (size=4,offset=0): f32[]\n"
      "allocation 2: size SIZE, preallocated-temp:\n"
      " value: <1 t @0> (size=SIZE,offset=0): SHAPE\n"
      "\nTotal bytes used: 0 (0B)\n"
      "\nUsed values:\n"
      "<0 p @0>\n positions:\n  p\n uses:\n  t, operand 0\n"
      " from instruction: %p = f32[] parameter(0)\n"
      "<1 t @0>\n positions:\n  t\n uses:\n  out, operand 0\n"
      " from instruction: %t = SHAPE broadcast(%p)\n"
      "<2 out @0>\n positions:\n  out\n uses:\n  (none)\n"
      " from instruction: %out = f32[] reduce(%t)\n"
      "\n\nHloLiveRange (max 3):\n  InstructionSequence:\n    0:p\n    1:t\n    2:out\n"
      "  BufferLiveRange:\n    p{}:0-3\n    t{}:RANGE\n    out{}:2-3\n"
      "  Live ranges at 2 (peak):\n";
  for (const auto& [from, to] :
       {std::pair("SIZE", size), std::pair("SIZE", size), std::pair("SHAPE", shape),
        std::pair("SHAPE", shape), std::pair("RANGE", range)})
    text = With(text, from, to);
  return text;
}

TEST(Replan, ValuesOfNoBytes) {
  const Report report = MustRead({OneTemporary("f32[0]{0}", "0")});
  const std::string before = Whole(report);
  const Result<Replan> replan =
      ReplanReport(MustRead({OneTemporary("f32[0]{0}", "0")}), RulesFor("cpu"));
  ASSERT_TRUE(replan.has_value()) << Render(replan.error());
  EXPECT_EQ(Whole(replan->report), before);
}

TEST(Replan, TheLargestSize) {
  const std::string size = std::to_string(int64_t{1} << 62);
  EXPECT_THAT(Differences(MustRead({OneTemporary("s8[" + size + "]{0}", size)})),
              testing::Not(HasSubstr("error")));
  const std::string most = std::to_string(std::numeric_limits<int64_t>::max());
  for (const std::string_view target : {"cpu", "gpu", "tpu-v5e"}) {
    EXPECT_THAT(Differences(MustRead({OneTemporary("s8[" + most + "]{0}", most)}), target),
                HasSubstr("do not fit in 64 bits"));
  }
  // A preset block counts, whatever its values take.
  const std::string preset = With(With(OneTemporary("s8[8]{0}", most), "(size=" + most, "(size=8"),
                                  most, most + ", color 1");
  EXPECT_THAT(Differences(MustRead({preset}), "tpu-v5e"), HasSubstr("do not fit in 64 bits"));
}

TEST(Replan, RangesOutsideOfTheSequence) {
  for (const std::string_view range : {"2-1", "-1-2", "1-4", "1-9223372036854775807"}) {
    EXPECT_THAT(
        Differences(MustRead({OneTemporary("f32[2]{0}", "8", range)})),
        HasSubstr("value 1 (t) is alive " + std::string(range) + ", which is not within 0-3"));
  }
  EXPECT_THAT(Differences(MustRead({OneTemporary("f32[2]{0}", "8", "0-3")})),
              HasSubstr("value 1 (t) is alive 1-2 by its uses, 0-3 by the report\n"));
}

// Numbers of values and allocations are any that 64 bits hold.
TEST(Replan, StrangeNumbers) {
  std::string text = OneTemporary("f32[2]{0}", "8");
  for (int i = 0; i < 2; ++i) text = With(text, "<1 t", "<-9223372036854775808 t");
  EXPECT_THAT(Differences(MustRead({text})), testing::Not(HasSubstr("error")));
  text = With(text, "allocation 2:", "allocation 9223372036854775807:");
  EXPECT_THAT(Differences(MustRead({text})),
              HasSubstr("goes to allocation 2 at 0, in the report to 9223372036854775807 at 0\n"));
}

// `p` is alive to the end by its uses and by the report; `out` lies over it.
TEST(Replan, OverlapsAreRefused) {
  std::string text = OneTemporary("f32[]", "4");
  text = With(text, "allocation 2: size 4, preallocated-temp:\n", "");
  EXPECT_THAT(
      Differences(MustRead({text})),
      HasSubstr("error: the report's values 0 (p) and 1 (t) are alive at the same time, and "
                "share bytes of allocation 1"));
}

TEST(Replan, TouchingEndsMayShare) {
  // `b` takes the place of `a` when that ends.
  EXPECT_THAT(Differences(Example()), testing::Not(HasSubstr("share bytes")));
}

TEST(Replan, NeedsAllParts) {
  EXPECT_THAT(Differences(MustRead({kAssignment})),
              HasSubstr("give the -buffer-assignment-values.txt"));
  EXPECT_THAT(Differences(MustRead({kAssignment, kValueList})),
              HasSubstr("give the -live-range.txt"));
  EXPECT_THAT(Differences(MustRead({kLiveRanges})), HasSubstr("replan needs a buffer assignment"));
}

TEST(FindReportTarget, OnlyWhereAllSizesFit) {
  EXPECT_TRUE(FindReportTarget(MustRead({OneTemporary("f32[2]{0}", "8")})).has_value());
  // Neither more nor less than the shape takes, unless another in that place takes as much.
  EXPECT_FALSE(FindReportTarget(MustRead({OneTemporary("f32[2]{0}", "7")})).has_value());
  EXPECT_FALSE(FindReportTarget(MustRead({OneTemporary("f32[2]{0}", "9")})).has_value());
  const std::string shared =
      With(OneTemporary("f32[2]{0}", "8"), "(size=8,offset=0): f32[2]{0}\n",
           "(size=8,offset=0): f32[1]{0}\n value: <5 u @0> (size=8,offset=0): f32[2]{0}\n");
  EXPECT_TRUE(FindReportTarget(MustRead({shared})).has_value());
  // A shape of which nothing is known may have any size.
  EXPECT_TRUE(FindReportTarget(MustRead({OneTemporary("what[2]", "9")})).has_value());
}

}  // namespace
}  // namespace stowplan::report::test
