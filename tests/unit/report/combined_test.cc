// SPDX-License-Identifier: Apache-2.0
// Several parts of a report in one text: whatever is written is read back.
#include <algorithm>
#include <array>

#include "report/check.h"
#include "report/write.h"
#include "unit/report/example_report.h"
#include "unit/report/facts.h"

namespace stowplan::report::test {
namespace {

std::string Findings(const Report& report) {
  std::string out;
  for (const std::shared_ptr<const Source>& source : report.sources)
    out += Render(CompareFigures(report, *source)) + Render(FindContradictions(report, *source));
  return out;
}

// The example with these parts, as if `dialect` had written each to a file of its own.
Report ExampleIn(const ReportDialect& dialect, const Parts& parts) {
  Report all = Example();
  all.dialect = dialect;
  // WriteParts writes what was read; here it shall be computed.
  all.usage.emplace().kind = dialect.usage;
  std::vector<std::shared_ptr<const Source>> sources;
  for (const Parts& part :
       {Parts{.assignment = parts.assignment}, Parts{.value_list = parts.value_list},
        Parts{.live_ranges = parts.live_ranges}, Parts{.usage = parts.usage}}) {
    const std::string text = WriteParts(all, dialect, part);
    if (!text.empty()) sources.push_back(Source::FromBytes("part.txt", text));
  }
  Result<Report> report = ReadReport(sources);
  if (report) return *std::move(report);
  ADD_FAILURE() << Render(report.error());
  return {};
}

class EveryDialect : public testing::TestWithParam<NamedReportDialect> {};

TEST_P(EveryDialect, EverySetOfPartsComesBack) {
  ReportDialect dialect = GetParam().dialect;
  dialect.address = false;  // the example has none
  for (unsigned set = 1; set < 16; ++set) {
    const Parts parts = {.assignment = (set & 1) != 0,
                         .value_list = (set & 2) != 0,
                         .live_ranges = (set & 4) != 0 && dialect.peak_line != PeakLine::kNone,
                         .usage = (set & 8) != 0 && dialect.usage != UsageReport::kNone};
    if (parts == Parts()) continue;
    SCOPED_TRACE(set);
    const Report report = ExampleIn(dialect, parts);
    ASSERT_EQ(report.parts(), parts);
    const std::string text = WriteCombined(report, report.dialect);
    const Report again = MustRead({text});
    EXPECT_EQ(FactsOf(again), FactsOf(report)) << text;
    EXPECT_EQ(Findings(again), "") << text;
    ASSERT_EQ(again.source_parts, std::vector{parts});
    EXPECT_EQ(WriteFile(again, *again.sources[0]), text);
    EXPECT_EQ(again.dialect.separate_files,
              !(parts.assignment && (parts.value_list || parts.live_ranges)));
  }
}

INSTANTIATE_TEST_SUITE_P(Report, EveryDialect, testing::ValuesIn(ReportDialects()),
                         [](const auto& dialect) {
                           std::string name(dialect.param.name);
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

TEST(Combined, IsXlasOwnFileBeforeItHadSeveral) {
  const Report report = Example();
  ReportDialect dialect = report.dialect;
  dialect.separate_files = false;
  const std::string whole =
      std::string(kAssignment) + std::string(kValueList) + "\n\n" + std::string(kLiveRanges);
  EXPECT_EQ(WriteCombined(report, report.dialect), whole);
  EXPECT_EQ(WriteAssignment(report, dialect), whole);
  EXPECT_EQ(WriteAssignment(report, report.dialect), kAssignment);
}

TEST(Combined, PartsAreReadFromWhicheverFileTheyAreIn) {
  const std::string outer = std::string(kAssignment) + "\n\n" + std::string(kLiveRanges);
  const Report report = MustRead({outer, kValueList});
  EXPECT_EQ(FactsOf(report), FactsOf(Example()));
  EXPECT_EQ(Findings(report), "");
}

TEST(Combined, RangesWithoutAPeakMayHaveMoreBehindThem) {
  const std::string text = std::string(kAssignment) +
                           "\n\nHloLiveRange not available (finalized or constructed from proto)";
  const Report report = MustRead({text});
  EXPECT_TRUE(report.live_ranges && report.live_ranges->is_unavailable);
  EXPECT_EQ(WriteCombined(report, report.dialect), text);
  Report with_usage = MustRead({text});
  with_usage.usage.emplace();
  const std::string longer = WriteCombined(with_usage, with_usage.dialect);
  EXPECT_TRUE(longer.starts_with(text + "\n\nMemory Space: ")) << longer;
  const Report again = MustRead({longer});
  EXPECT_EQ(WriteCombined(again, again.dialect), longer);
}

TEST(Combined, EachPartIsThereOnceAndInOrder) {
  ASSERT_EQ(std::ranges::count(kLiveRanges, '\n'), 21);
  const std::string ranges(kLiveRanges);
  EXPECT_EQ(Errors({ranges + "\n\n" + ranges}), "24:1: a second live-range report in one file\n");
  EXPECT_EQ(Errors({ranges + std::string(kValueList)}),
            "23:1: a value list comes before a live-range report\n");
  EXPECT_EQ(Errors({std::string(kAssignment) + "\n\n" + ranges, ranges}),
            "1:1: a second live-range report, after test.txt\n");
  EXPECT_EQ(Errors({ranges, std::string(kAssignment) + "\n\n" + ranges}),
            "1:1: a second live-range report, after test.txt\n");
  EXPECT_EQ(Errors({ranges + "\nspare\n"}), "23:1: this line is not understood\n");
}

TEST(Combined, ContradictionsAreFoundInEveryPart) {
  std::string ranges(kLiveRanges);
  ranges.replace(ranges.find("a{}:2-3"), 7, "a{}:2-9");
  const std::string text = std::string(kValueList) + "\n\n" + ranges;
  const Report report = MustRead({text});
  const Diagnostics findings = FindContradictions(report, *report.sources[0]);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message, "this live range is not within the schedule, 0-5");
  const std::string above = text.substr(0, text.find("a{}:2-9"));
  EXPECT_EQ(findings[0].line, static_cast<size_t>(std::ranges::count(above, '\n')) + 1);
}

}  // namespace
}  // namespace stowplan::report::test
