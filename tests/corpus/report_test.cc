// SPDX-License-Identifier: Apache-2.0
// Every report of the corpus, and the five that started it all: read, re-computed, written back
// byte for byte.
#include <map>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "report/read.h"
#include "report/write.h"

namespace stowplan::report {
namespace {

constexpr std::string_view kEndings[] = {"-buffer-assignment.txt", "-buffer-assignment-values.txt",
                                         "-live-range.txt", "-memory-usage-report.txt"};

// The files of each module, by their common stem.
std::map<std::string, std::vector<std::string>> ReportFiles() {
  std::map<std::string, std::vector<std::string>> modules;
  for (const std::string_view ending : kEndings) {
    for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, ending)) {
      modules[file.substr(0, file.size() - ending.size())].push_back(file);
    }
  }
  return modules;
}

std::vector<std::shared_ptr<const Source>> Sources(const std::vector<std::string>& files) {
  std::vector<std::shared_ptr<const Source>> sources;
  for (const std::string& file : files) sources.push_back(ReadSource(file).value());
  return sources;
}

TEST(CorpusReport, ComesBackByteForByte) {
  CountRows rows;
  for (const auto& [stem, files] : ReportFiles()) {
    const std::vector<std::shared_ptr<const Source>> sources = Sources(files);
    const Result<Report> report = ReadReport(sources);
    ASSERT_TRUE(report) << Render(report.error());
    for (const std::shared_ptr<const Source>& source : sources) {
      rows[ArchiveOf(source->name())] += {1};
      const bool is_same = WriteFile(*report, *source) == source->bytes();
      EXPECT_TRUE(is_same) << Render(CompareFigures(*report, *source)).substr(0, 1000);
    }
  }
  ExpectRows(rows, {
                       {"cpu", {216}},
                       {"cpu11", {216}},
                       {"dialects", {452}},
                       {"explain", {342}},
                       {"gpu", {200}},
                       {"oracle", {3024}},
                       {"oracle_tpu", {36}},
                       {"scale", {12}},
                       {"tpu", {216}},
                   });
  CountRow all;
  for (const auto& [archive, row] : rows) all += row;
  EXPECT_EQ(all, DocTable("report.md", "| of the corpus | count |")["files that come back"]);
}

TEST(CorpusReport, EachFileIsUnderstoodAlone) {
  for (const auto& [stem, files] : ReportFiles()) {
    for (const std::string& file : files) {
      const std::vector<std::shared_ptr<const Source>> sources = Sources({file});
      const Result<Report> report = ReadReport(sources);
      ASSERT_TRUE(report) << Render(report.error());
      EXPECT_EQ(WriteFile(*report, *sources[0]), sources[0]->bytes()) << file;
    }
  }
}

}  // namespace
}  // namespace stowplan::report
