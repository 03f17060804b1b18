// SPDX-License-Identifier: Apache-2.0
// Reports of the corpus, planned again from nothing but themselves.
//
// A replan without differences is XLA's text, byte for byte; levels may only rise. Where it
// differs, the report does not tell what decides: docs/assignment.md has the classes. None is
// refused but those that have no live ranges, or sizes of no known machine.
#include "report/replan.h"

#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/report_files.h"
#include "report/write.h"

namespace stowplan::report {
namespace {

struct Count {
  int equal = 0;
  int all = 0;
  int refused = 0;  // no machine fits, or it is an error
};

// "cpu"; of archives with folders for compilers "dialects/cpu_tf22".
std::string GroupOf(const std::string& file) {
  std::string archive = ArchiveOf(file);
  if (archive != "dialects" && archive != kOracle) return archive;
  const std::filesystem::path path = std::filesystem::relative(file, STOWPLAN_CORPUS_DIR);
  return archive + "/" + std::next(path.begin())->string();
}

void Replan(const std::string& file, Count& count) {
  ++count.all;
  Result<Report> report = ReadAllOf(file);
  ASSERT_TRUE(report.has_value()) << Render(report.error());
  const std::optional<Target> target = FindReportTarget(*report);
  if (!target) {
    ++count.refused;
    return;
  }
  const std::string theirs = WriteCombined(*report, report->dialect);
  const bool has_ranges = report->live_ranges.has_value();
  const std::string version =
      IsOracle(ArchiveOf(file)) ? std::string() : std::string(CompilerOf(file));
  Rules rules = RulesOf(*target, version);
  rules.heap_limit = HeapLimitOf(file);
  const Result<stowplan::report::Replan> replan = ReplanReport(*std::move(report), rules);
  if (!replan) {
    EXPECT_FALSE(has_ranges) << Render(replan.error());
    ++count.refused;
    return;
  }
  const bool is_equal = WriteCombined(replan->report, replan->report.dialect) == theirs;
  EXPECT_EQ(is_equal, replan->differences.empty()) << file;
  count.equal += is_equal ? 1 : 0;
}

TEST(CorpusReplan, ReportsComeBack) {
  std::map<std::string, Count> counts;
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, kAssignmentEnding)) {
    if (ArchiveOf(file) != kExplain) Replan(file, counts[GroupOf(file)]);
  }
  // equal, all, refused
  const std::map<std::string, Count> levels = {
      {"cpu", {54, 54, 0}},
      {"cpu11", {54, 54, 0}},
      {"dialects/cpu_0100", {7, 7, 0}},
      {"dialects/cpu_0413", {7, 7, 0}},
      {"dialects/cpu_0425", {7, 7, 0}},
      {"dialects/cpu_0430", {7, 7, 0}},
      {"dialects/cpu_0435", {7, 7, 0}},
      {"dialects/cpu_050", {7, 7, 0}},
      {"dialects/cpu_060", {7, 7, 0}},
      {"dialects/cpu_072", {7, 7, 0}},
      {"dialects/cpu_082", {7, 7, 0}},
      {"dialects/cpu_090", {7, 7, 0}},
      {"dialects/cpu_more", {4, 4, 0}},
      {"dialects/cpu_new", {7, 7, 0}},
      {"dialects/cpu_tf211", {7, 7, 0}},
      {"dialects/cpu_tf22", {0, 7, 7}},
      {"dialects/cpu_tf24", {0, 7, 7}},
      {"dialects/cpu_tf26", {7, 7, 0}},
      {"dialects/cpu_tf28", {7, 7, 0}},
      {"dialects/dyn_cpu", {1, 1, 0}},
      {"dialects/dyn_tpu", {1, 1, 0}},
      {"dialects/tpu_0435_v5e", {7, 7, 0}},
      {"dialects/tpu_050_v5e", {2, 2, 0}},
      {"dialects/tpu_060_v5e", {6, 7, 0}},
      {"dialects/tpu_072_v5e", {7, 7, 0}},
      {"dialects/tpu_082_v5e", {7, 7, 0}},
      {"dialects/tpu_more_v5e", {7, 7, 0}},
      {"dialects/tpu_new_v4", {7, 7, 0}},
      {"dialects/tpu_new_v5e", {7, 7, 0}},
      {"dialects/tpu_new_v6e", {7, 7, 0}},
      {"dialects/tpu_new_v7x", {7, 7, 0}},
      {"dialects/tpu_sm_v22x2", {2, 2, 0}},
      {"dialects/tpu_sm_v32x2", {2, 2, 0}},
      {"dialects/tpu_sm_v5p2x2x1", {2, 2, 0}},
      {"dialects/tpu_sm_v5p4x4x4", {2, 2, 0}},
      {"gpu", {50, 50, 0}},
      {"oracle/cpu-jaxlib-0.10.2", {119, 120, 0}},
      {"oracle/cpu-jaxlib-0.10.2-unfused", {30, 30, 0}},
      {"oracle/cpu-jaxlib-0.11.2", {50, 50, 0}},
      {"oracle/gpu-jaxlib-0.11.2", {110, 110, 0}},
      {"oracle/gpu-jaxlib-0.11.2-collective", {28, 28, 0}},
      {"oracle/gpu-jaxlib-0.11.2-devices", {28, 28, 0}},
      {"oracle/gpu-jaxlib-0.11.2-heaps", {14, 14, 0}},
      {"oracle/gpu-jaxlib-0.11.2-heroes", {126, 126, 0}},
      {"oracle/gpu-jaxlib-0.11.2-more", {48, 48, 0}},
      {"oracle/gpu-jaxlib-0.11.2-pipelined", {5, 6, 0}},
      {"oracle/tpu-v2-libtpu-0.0.51", {20, 20, 0}},
      {"oracle/tpu-v3-libtpu-0.0.51", {40, 40, 0}},
      {"oracle/tpu-v4-libtpu-0.0.51", {25, 28, 0}},
      {"oracle/tpu-v5e-libtpu-0.0.51", {45, 48, 0}},
      {"oracle/tpu-v5p-libtpu-0.0.51", {13, 20, 7}},
      {"oracle/tpu-v6e-libtpu-0.0.51", {19, 20, 1}},
      {"oracle/tpu-v7x-libtpu-0.0.51", {18, 20, 2}},
      {"oracle_tpu", {9, 9, 0}},
      {"scale", {3, 3, 0}},
      {"tpu", {54, 54, 0}},
  };
  for (const auto& [group, count] : counts) {
    const auto level = levels.find(group);
    if (level == levels.end()) {
      ADD_FAILURE() << group << " has no recorded level";
      continue;
    }
    EXPECT_EQ(count.all, level->second.all) << group;
    EXPECT_EQ(count.refused, level->second.refused) << group;
    EXPECT_EQ(count.equal, level->second.equal) << group << ": record it if it rose";
  }
  EXPECT_EQ(counts.size(), levels.size());
}

}  // namespace
}  // namespace stowplan::report
