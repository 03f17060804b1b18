// SPDX-License-Identifier: Apache-2.0
// Every report of the corpus through its own writer and reader: what is written says the same, in
// one text and in a file a part, and nothing in it is found to be wrong.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "report/check.h"
#include "report/derive.h"
#include "report/peak.h"
#include "report/write.h"
#include "unit/report/facts.h"

namespace stowplan::report {
namespace {

using test::FactsOf;

// How many reports have which parts: "cpu: assignment values ranges usage".
std::string GroupOf(const std::string& archive, const Parts& parts) {
  return archive + ":" + (parts.assignment ? " assignment" : "") +
         (parts.value_list ? " values" : "") + (parts.live_ranges ? " ranges" : "") +
         (parts.usage ? " usage" : "");
}

// The line in which they differ first.
std::string Difference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::ranges::mismatch(a, b);
  const auto line = [](const std::string& text, size_t offset) {
    const size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    return text.substr(begin, std::min<size_t>(text.find('\n', offset) - begin, 300));
  };
  return line(a, static_cast<size_t>(at - a.begin())) + "\nagainst\n" +
         line(b, static_cast<size_t>(other - b.begin()));
}

void CheckReadBack(const Report& report, const std::vector<std::string>& texts) {
  std::vector<std::shared_ptr<const Source>> sources;
  for (const std::string& text : texts) sources.push_back(Source::FromBytes("written", text));
  const Result<Report> again = ReadReport(sources);
  ASSERT_TRUE(again.has_value()) << Render(again.error());
  const std::string before = FactsOf(report);
  const std::string after = FactsOf(*again);
  ASSERT_TRUE(before == after) << Difference(before, after);
  for (const std::shared_ptr<const Source>& source : sources) {
    ASSERT_EQ(Render(CompareFigures(*again, *source)), "");
    ASSERT_EQ(Render(FindContradictions(*again, *source)), "");
    ASSERT_TRUE(WriteFile(*again, *source) == source->bytes());
  }
  ASSERT_EQ(TotalBytes(*again), TotalBytes(report));
  if (HasPeak(report)) {
    ASSERT_EQ(ComputeTruePeak(*again)->all, ComputeTruePeak(report)->all);
  }
}

void RoundTrip(const Report& report) {
  const std::string combined = WriteCombined(report, report.dialect);
  ASSERT_NO_FATAL_FAILURE(CheckReadBack(report, {combined})) << "in one text";
  std::vector<std::string> texts;
  for (const Parts& part : {Parts{.assignment = true}, Parts{.value_list = true},
                            Parts{.live_ranges = true}, Parts{.usage = true}}) {
    std::string text = WriteParts(report, report.dialect, part);
    if (!text.empty()) texts.push_back(std::move(text));
  }
  ASSERT_NO_FATAL_FAILURE(CheckReadBack(report, texts)) << "in files";
}

TEST(CorpusCombined, EveryReportComesBack) {
  CountRows rows;
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, kAssignmentEnding)) {
    const Result<Report> report = ReadAllOf(file);
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    ASSERT_NO_FATAL_FAILURE(RoundTrip(*report)) << file;
    rows[GroupOf(ArchiveOf(file), report->parts())] += {1};
  }
  for (const std::string& file : FilesBelow(STOWPLAN_TESTS_DIR "/../examples/seeds", ".txt")) {
    const Result<Report> report = ReadFiles({file});
    ASSERT_TRUE(report.has_value()) << Render(report.error());
    ASSERT_NO_FATAL_FAILURE(RoundTrip(*report)) << file;
    rows[GroupOf("seeds", report->parts())] += {1};
  }
  ExpectRows(rows, {
                       {"cpu: assignment values ranges usage", {54}},
                       {"cpu11: assignment values ranges usage", {54}},
                       {"dialects: assignment values", {14}},
                       {"dialects: assignment values ranges", {42}},
                       {"dialects: assignment values ranges usage", {135}},
                       {"explain: assignment ranges usage", {114}},
                       {"gpu: assignment values ranges usage", {50}},
                       {"oracle: assignment values ranges usage", {756}},
                       {"oracle_tpu: assignment values ranges usage", {9}},
                       {"scale: assignment values ranges usage", {3}},
                       {"seeds: assignment values ranges", {5}},
                       {"tpu: assignment values ranges usage", {54}},
                   });
  CountRow all;
  for (const auto& [group, row] : rows) all += row;
  EXPECT_EQ(
      all,
      DocTable("report.md",
               "| of the corpus | count |")["reports that come back in one text and in files"]);
}

}  // namespace
}  // namespace stowplan::report
