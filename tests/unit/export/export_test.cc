// SPDX-License-Identifier: Apache-2.0
// The parts that the writers are made of. Whole files are read back in tests/cli/export_test.py.
#include "export/export.h"

#include <gmock/gmock.h>

#include "base/csv_writer.h"
#include "base/gzip.h"
#include "base/json_writer.h"
#include "base/unpack.h"
#include "base/utf8.h"
#include "explain/moment.h"
#include "export/stacks.h"
#include "export/tracks.h"
#include "unit/explain/picturing.h"

namespace stowplan::exporting::test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kProgram = R"(HloModule step, is_scheduled=true

body {
  bp = (s32[], f32[64]) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  ba = f32[64] get-tuple-element(bp), index=1
  one = s32[] constant(1)
  bn = s32[] add(bi, one)
  bs = f32[64] add(ba, ba)
  ROOT bt = (s32[], f32[64]) tuple(bn, bs)
}

cond {
  cp = (s32[], f32[64]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(ci, ten), direction=LT
}

ENTRY main {
  w = f32[64] parameter(0), metadata={op_name="params[\'w\']"}
  a = f32[64] negate(w), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3}
  b = f32[64] add(a, w), metadata={op_name="jit(f)/add"}
  zero = s32[] constant(0)
  i = s32[] copy(zero)
  init = (s32[], f32[64]) tuple(i, b)
  loop = (s32[], f32[64]) while(init), condition=cond, body=body
  last = f32[64] get-tuple-element(loop), index=1
  ROOT out = (f32[64], f32[64]) tuple(last, a)
}
)";

std::vector<std::string> NamesOf(StackFinder& finder, report::ValueId id) {
  std::vector<std::string> names;
  for (const uint32_t row : finder.Of(id)) names.push_back(finder.frames()[row].name);
  return names;
}

TEST(Export, Stacks) {
  const auto scene = explain::test::SceneOf(kProgram);
  Subject subject;
  subject.picture = &scene->picture;
  StackFinder source(subject);
  EXPECT_THAT(NamesOf(source, scene->Find("w")), ElementsAre("(parameters)", "params", "['w']"));
  EXPECT_THAT(NamesOf(source, scene->Find("a")), ElementsAre("f.py:3"));
  EXPECT_THAT(NamesOf(source, scene->Find("b")), ElementsAre("(no source)", "jit(f)", "add"));
  EXPECT_EQ(source.LeafText(scene->Find("a")), "a f32[64]");
  subject.stacks = Stacks::kOpName;
  StackFinder op_name(subject);
  EXPECT_THAT(NamesOf(op_name, scene->Find("a")), ElementsAre("jit(f)", "neg"));
}

TEST(Export, SourceIsPreferred) {
  const auto scene = explain::test::SceneOf(kProgram);
  const explain::Moment first = explain::MomentAt(scene->picture, 0);
  EXPECT_EQ(BestStacks(scene->picture, first), Stacks::kOpName) << "only w is alive";
  const explain::Moment third = explain::MomentAt(scene->picture, 2);
  EXPECT_EQ(BestStacks(scene->picture, third), Stacks::kSource);
}

TEST(Export, Names) {
  for (size_t i = 0; i < kFormats; ++i) {
    const auto format = static_cast<Format>(i);
    EXPECT_EQ(FindFormat(Name(format)), format);
  }
  EXPECT_FALSE(FindFormat("xml"));
}

TEST(Export, NoMomentIsAnError) {
  const auto scene = explain::test::SceneOf(kProgram);
  Subject subject;
  subject.picture = &scene->picture;
  for (size_t i = 0; i < kFormats; ++i) {
    const auto format = static_cast<Format>(i);
    EXPECT_EQ(Write(subject, format).has_value(), !NeedsMoment(format)) << Name(format);
  }
}

TEST(Tracks, ComputationsAreNested) {
  const auto scene = explain::test::SceneOf(kProgram);
  std::vector<std::string_view> names;
  int64_t end = 0;
  for (const ComputationSpan& span : FindComputations(scene->picture)) {
    names.push_back(span.name);
    end = std::max(end, span.start + span.length);
  }
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0], "main");
  EXPECT_EQ(end, static_cast<int64_t>(scene->report.live_ranges->sequence.size()));
}

report::Report Ranges(const std::vector<std::pair<int64_t, int64_t>>& ranges, int64_t end) {
  report::Report report;
  report.live_ranges.emplace();
  report.live_ranges->end = end;
  report.allocations.Add(report::Allocation{.size = 8});
  for (const auto& [from, to] : ranges) {
    report::Value value;
    value.allocation = report::AllocationId(0);
    value.has_range = true;
    value.start = from;
    value.end = to;
    report.values.Add(value);
  }
  return report;
}

std::vector<std::string> LanesOf(const report::Report& report) {
  std::vector<report::ValueId> all;
  for (size_t i = 0; i < report.values.size(); ++i) all.emplace_back(i);
  std::vector<std::string> lanes;
  for (const AllocationSpans& allocation : FindSpans(report, all)) {
    for (const ValueSpan& span : allocation.spans)
      lanes.push_back(std::to_string(span.start) + "+" + std::to_string(span.length) + " in " +
                      std::to_string(span.lane) + " of " + std::to_string(allocation.lanes));
  }
  return lanes;
}

// Ends are inclusive: a value that begins when another ends needs a lane of its own.
TEST(Tracks, LanesAreUsedAgain) {
  EXPECT_THAT(LanesOf(Ranges({{0, 3}, {3, 4}, {4, 6}, {5, 5}}, 9)),
              ElementsAre("0+4 in 0 of 2", "3+2 in 1 of 2", "4+3 in 0 of 2", "5+1 in 1 of 2"));
}

TEST(Tracks, NoSpanIsLongerThanTheProgram) {
  EXPECT_THAT(LanesOf(Ranges({{0, INT64_MAX}, {INT64_MIN, 2}, {7, 3}}, 9)),
              ElementsAre("0+10 in 0 of 2", "0+3 in 1 of 2"));
  EXPECT_THAT(LanesOf(Ranges({{0, INT64_MAX}}, INT64_MAX)),
              ElementsAre("0+9223372036854775807 in 0 of 1"));
}

// Flame graph programs would take the 3 for a count, and split at the semicolon.
TEST(Export, CollapsedLinesHaveOneNumber) {
  for (const auto& [name, expected] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"copy 3", "(no op_name);copy_3 8\n"},
           {"a;b\nc", "(no op_name);a,b c 8\n"},
           {"\xff", "(no op_name);\xef\xbf\xbd 8\n"}}) {
    report::Report report = Ranges({{0, 3}}, 9);
    report.has_assignment = true;
    report::Value& value = report.values[report::ValueId(0)];
    value.instruction = name;
    value.size = 8;
    report.allocations[report::AllocationId(0)].values.emplace_back(0);
    const Result<explain::Picture> picture = explain::MakePicture(report, nullptr);
    ASSERT_TRUE(picture.has_value());
    Subject subject;
    subject.picture = &*picture;
    subject.moment = explain::MomentAt(*picture, 1);
    subject.stacks = Stacks::kOpName;
    EXPECT_EQ(Write(subject, Format::kCollapsed), expected);
  }
}

TEST(Gzip, ComesBack) {
  std::string large;
  for (int i = 0; i < 30000; ++i) large += std::to_string(i * 7919);
  for (const std::string& text : {std::string(), std::string("a"), large}) {
    const Result<std::string> packed = Gzip(text);
    ASSERT_TRUE(packed.has_value());
    const auto unpacked = UnpackSource("x", *packed);
    ASSERT_TRUE(unpacked.has_value());
    EXPECT_EQ((*unpacked)->bytes(), text);
    EXPECT_EQ(packed->substr(3, 5), std::string(5, '\0')) << "no name, no time";
    EXPECT_EQ(*packed, *Gzip(text));
  }
}

TEST(Csv, QuotesWhatNeedsIt) {
  CsvWriter csv("a,b,c");
  csv.Text("x\"y\n");
  csv.Number(std::nullopt);
  csv.Number(-3);
  csv.EndRow();
  csv.Text("\xff,");
  csv.Nothing();
  csv.Flag(true);
  csv.EndRow();
  EXPECT_EQ(std::move(csv).Take(), "a,b,c\n\"x\"\"y\n\",,-3\n\"\xef\xbf\xbd,\",,1\n");
}

TEST(Json, DeepLevelsAreLines) {
  std::string out;
  JsonWriter json(out, 1);
  json.BeginObject();
  json.Field("a", int64_t{1});
  json.BeginArray("b");
  json.Value(int64_t{2});
  json.BeginObject();
  json.Field("c", "d");
  json.End();
  json.End();
  json.End();
  EXPECT_EQ(out, "{\n  \"a\": 1,\n  \"b\": [2,{\"c\":\"d\"}]\n}\n");
}

}  // namespace
}  // namespace stowplan::exporting::test
