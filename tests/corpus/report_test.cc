// SPDX-License-Identifier: Apache-2.0
// Every report of the corpus, and the five that started it all: read, re-computed, written back
// byte for byte.
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "corpus_files.h"
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
    for (const std::string& file : CorpusFiles(ending)) {
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
  std::map<std::string, std::pair<int, int>> equal;  // by archive: equal, all
  for (const auto& [stem, files] : ReportFiles()) {
    const std::vector<std::shared_ptr<const Source>> sources = Sources(files);
    const Result<Report> report = ReadReport(sources);
    ASSERT_TRUE(report) << Render(report.error());
    for (const std::shared_ptr<const Source>& source : sources) {
      auto& [same, all] = equal[ArchiveOf(source->name())];
      ++all;
      const bool is_same = WriteFile(*report, KindOf(*source)) == source->bytes();
      EXPECT_TRUE(is_same) << Render(CompareFigures(*report, *source)).substr(0, 1000);
      if (is_same) ++same;
    }
  }
  int all = 0;
  for (const auto& [archive, counts] : equal) {
    std::cout << archive << ": equal " << counts.first << " of " << counts.second << '\n';
    all += counts.second;
  }
  EXPECT_EQ(all, 1312);  // a smaller corpus would prove less
}

TEST(CorpusReport, EachFileIsUnderstoodAlone) {
  for (const auto& [stem, files] : ReportFiles()) {
    for (const std::string& file : files) {
      const std::vector<std::shared_ptr<const Source>> sources = Sources({file});
      const Result<Report> report = ReadReport(sources);
      ASSERT_TRUE(report) << Render(report.error());
      EXPECT_EQ(WriteFile(*report, KindOf(*sources[0])), sources[0]->bytes()) << file;
    }
  }
}

}  // namespace
}  // namespace stowplan::report
