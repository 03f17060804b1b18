// SPDX-License-Identifier: Apache-2.0
// Stowplan's own assignment of each module of the corpus, against the files that XLA wrote.
//
// A module's file may hold XLA's answer beside the program. It is removed first; places in fast
// memory come from the report, as a preset.
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "assign/temporaries.h"
#include "check/check.h"
#include "corpus/compilers.h"
#include "corpus/report_files.h"
#include "report/from_assignment.h"
#include "report/write.h"
#include "schedule/make_schedule.h"
#include "session/sequence.h"
#include "stowplan/session.h"

namespace stowplan::report {
namespace {

// By archive (or folder of `dialects`) and kind of file: how many are equal, of how many. Levels
// may only rise.
using Counts = std::map<std::string, std::pair<int, int>>;

void Count(Counts& counts, const std::string& name, bool is_equal) {
  counts[name].first += is_equal ? 1 : 0;
  ++counts[name].second;
}

void CheckLevels(const Counts& counts, const std::map<std::string, int>& levels) {
  for (const auto& [name, count] : counts) {
    const auto level = levels.find(name);
    if (level == levels.end()) {
      ADD_FAILURE() << name << " has no recorded level: " << count.first << " of " << count.second;
      continue;
    }
    EXPECT_EQ(count.first, level->second) << name << ": record it if it rose";
  }
  EXPECT_EQ(counts.size(), levels.size());
}

struct Planned {
  Report report;
  ReportStyle style;
};

Result<Planned> Plan(const std::string& file, const std::string& assignment) {
  STOWPLAN_TRY(hlo::Module module, ReadModule(file));
  module.buffer_assignment = {};
  const std::string version = VersionOf(file);
  Rules rules = RulesOf(*FindTarget(TargetOf(file)), version);
  rules.heap_limit = HeapLimitOf(file);
  if (!IsScheduled(module)) {
    // Reports before TensorFlow 2.6 have no sequence.
    STOWPLAN_TRY(const Report report, ReadFiles({assignment}));
    std::optional<hlo::Module> followed = FollowSequence(module, report, rules.target);
    module = followed ? *std::move(followed)
                      : WithSchedule(module, Scheduler::kDepthFirst, rules.target);
  }
  STOWPLAN_TRY(const Analysis analysis, Analyze(module, rules.analysis));
  std::optional<Preset> preset;
  if (rules.preset_space >= 0) {
    STOWPLAN_TRY(const Report report, ReadFiles({assignment}));
    STOWPLAN_TRY(preset, PresetFrom(module, analysis, report, rules.preset_space));
  }
  STOWPLAN_TRY(const Assignment plan, Assign(module, analysis, rules, preset));
  if (Diagnostics overlaps = FindOverlaps(module, analysis, plan); !overlaps.empty())
    return std::unexpected(std::move(overlaps));
  const ReportStyle style = *FindReportStyle(version);
  return Planned{ReportOf(module, analysis, plan, style), style};
}

// Allocations with their values, places and sizes, without numbers: a text does not hold the orders
// that these come from.
std::multiset<std::string> WithoutNumbers(std::string_view text) {
  std::istringstream in{std::string(text.substr(0, text.find("\nTotal bytes used")))};
  std::multiset<std::string> allocations;
  std::string head;
  std::multiset<std::string> values;
  const auto flush = [&] {
    for (const std::string& value : values) head += "\n" + value;
    if (!head.empty()) allocations.insert(head);
    values.clear();
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("allocation ")) {
      flush();
      head = line.substr(line.find("size "));
    } else if (line.starts_with(" value: <")) {
      values.insert(line.substr(line.find(' ', 9)));
    }
  }
  flush();
  return allocations;
}

// Compares the reports from each proto with XLA's files beside it; `group` names the rows of the
// count.
template <class Group>
Counts ComparePlans(const std::vector<std::string>& files, Group group) {
  Counts counts;
  for (const std::string& file : files) {
    const auto sibling = [&](std::string_view ending) { return Sibling(file, ".hlo.pb", ending); };
    const std::string assignment = sibling(kAssignmentEnding);
    if (!std::filesystem::exists(assignment)) continue;
    const Result<Planned> plan = Plan(file, assignment);
    if (!plan) {
      ADD_FAILURE() << file << "\n" << Render(plan.error());
      continue;
    }
    const ReportDialect& dialect = plan->style.dialect;
    const std::string archive = group(file);
    const auto compare = [&](std::string_view ending, const std::string& ours, bool sorted) {
      const std::string theirs = BytesOf(sibling(ending));
      const bool is_equal =
          sorted ? WithSortedUses(ours) == WithSortedUses(theirs) : ours == theirs;
      Count(counts, archive + " " + std::string(ending) + (sorted ? ", uses in any order" : ""),
            is_equal);
      if (!is_equal && !ending.ends_with("values.txt")) std::cout << "differs: " << file << "\n";
    };
    compare("-buffer-assignment.txt", WriteAssignment(plan->report, dialect), false);
    compare("-live-range.txt", WriteLiveRanges(plan->report, dialect), false);
    compare("-memory-usage-report.txt", WriteUsage(plan->report, dialect), false);
    compare("-buffer-assignment-values.txt", WriteValueList(plan->report, dialect), false);
    compare("-buffer-assignment-values.txt", WriteValueList(plan->report, dialect), true);
  }
  return counts;
}

TEST(CorpusAssign, ReportsFromProtosEqualXlas) {
  const Counts counts = ComparePlans(CorpusProtos(), ArchiveOf);
  std::map<std::string, int> levels;
  for (const auto& [archive, modules, exact_values] :
       {std::tuple("cpu", 54, 27), std::tuple("cpu11", 54, 27), std::tuple("gpu", 50, 16),
        std::tuple("tpu", 54, 17), std::tuple("scale", 3, 0)}) {
    const std::string name(archive);
    levels[name + " -buffer-assignment.txt"] = modules;
    levels[name + " -live-range.txt"] = modules;
    levels[name + " -memory-usage-report.txt"] = modules;
    levels[name + " -buffer-assignment-values.txt"] = exact_values;
    levels[name + " -buffer-assignment-values.txt, uses in any order"] = modules;
  }
  CheckLevels(counts, levels);
}

// Programs made at random, and small ones by hand. Of TPU v5p, v6e and v7x the modules `extracted`
// differ: what the SparseCore executes, under the entry layout of the whole program.
TEST(CorpusAssign, ReportsOfRandomProgramsEqualXlas) {
  const std::string folder = std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kOracle);
  const Counts counts = ComparePlans(FilesBelow(folder, ".hlo.pb"), FolderOf);
  struct Level {
    std::string_view name;
    int plan, live, usage, values, values_any_order;
  };
  constexpr Level kLevels[] = {
      {"cpu-jaxlib-0.10.2", 120, 120, 120, 49, 120},
      {"cpu-jaxlib-0.10.2-unfused", 30, 30, 30, 19, 30},
      {"cpu-jaxlib-0.11.2", 50, 50, 50, 8, 50},
      {"gpu-jaxlib-0.11.2", 110, 110, 110, 27, 110},
      {"gpu-jaxlib-0.11.2-collective", 28, 28, 28, 14, 27},
      {"gpu-jaxlib-0.11.2-devices", 28, 28, 28, 14, 27},
      {"gpu-jaxlib-0.11.2-heaps", 14, 14, 14, 3, 14},
      {"gpu-jaxlib-0.11.2-heroes", 126, 126, 126, 0, 126},
      {"gpu-jaxlib-0.11.2-more", 48, 48, 48, 19, 48},
      {"gpu-jaxlib-0.11.2-pipelined", 6, 6, 6, 0, 6},
      {"tpu-v2-libtpu-0.0.51", 20, 20, 20, 2, 20},
      {"tpu-v3-libtpu-0.0.51", 40, 40, 40, 5, 40},
      {"tpu-v4-libtpu-0.0.51", 28, 28, 28, 3, 28},
      {"tpu-v5e-libtpu-0.0.51", 48, 48, 48, 5, 48},
      {"tpu-v5p-libtpu-0.0.51", 13, 13, 13, 4, 13},
      {"tpu-v6e-libtpu-0.0.51", 19, 19, 19, 3, 19},
      {"tpu-v7x-libtpu-0.0.51", 18, 18, 18, 1, 18},
  };
  std::map<std::string, int> levels;
  for (const Level& level : kLevels) {
    const std::string name(level.name);
    levels[name + " -buffer-assignment.txt"] = level.plan;
    levels[name + " -live-range.txt"] = level.live;
    levels[name + " -memory-usage-report.txt"] = level.usage;
    levels[name + " -buffer-assignment-values.txt"] = level.values;
    levels[name + " -buffer-assignment-values.txt, uses in any order"] = level.values_any_order;
  }
  CheckLevels(counts, levels);
}

// Programs of tests/oracle/programs_tpu_more.py and others like them: collectives under way while
// others compute, memory of the host, callbacks, a kernel whose attributes have newlines, work for
// the SparseCore. Plans are checked as well. Of one list of values the positions differ: two
// computations that the SparseCore runs, in the other order.
TEST(CorpusAssign, ReportsOfTpuProgramsEqualXlas) {
  const std::string folder = std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kOracleTpu);
  const std::vector<std::string> files = FilesBelow(folder, ".hlo.pb");
  const Counts counts = ComparePlans(files, ArchiveOf);
  const std::string name(kOracleTpu);
  CheckLevels(counts, {{name + " -buffer-assignment.txt", 9},
                       {name + " -live-range.txt", 9},
                       {name + " -memory-usage-report.txt", 9},
                       {name + " -buffer-assignment-values.txt", 1},
                       {name + " -buffer-assignment-values.txt, uses in any order", 8}});
  for (const std::string& file : files) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    std::vector<std::string> reports;
    for (const std::string_view ending :
         {"-buffer-assignment.txt", "-buffer-assignment-values.txt", "-live-range.txt"})
      reports.push_back(Sibling(file, ".hlo.pb", ending));
    const Result<Report> report = ReadFiles(reports);
    ASSERT_TRUE(report.has_value()) << file << "\n" << Render(report.error());
    EXPECT_FALSE(check::CheckReport(*report).is_unsound()) << file;
    const auto verdict = check::CheckPlan(*module, *report, *FindTarget(TargetOf(file)));
    ASSERT_TRUE(verdict.has_value()) << file;
    EXPECT_TRUE(verdict->is_fine()) << file << "\n" << check::Describe(verdict->findings[0]);
  }
}

// What branches read in fast memory is traced anew in each of them, also behind the end of its
// range: libtpu counts it once more then. Its `peak_memory_in_bytes` is 417312, of which 121888
// last.
TEST(CorpusAssign, BranchesInALoopHaveTheirPeak) {
  const std::string folder = std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kOracleTpu) +
                             "/tpu-v6e-libtpu-0.0.51/branches_in_a_loop/";
  const Result<hlo::Module> module = ReadModule(folder + "after_optimizations.hlo.pb");
  ASSERT_TRUE(module.has_value());
  const Rules rules = RulesOf(*FindTarget("tpu-v6e"), "libtpu-0.0.51");
  const Result<Analysis> analysis = Analyze(*module, rules.analysis);
  ASSERT_TRUE(analysis.has_value());
  const Result<Assignment> plan = Assign(*module, *analysis, rules, std::nullopt);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(TemporariesOf(*module, *analysis, *plan).heap_peak, 417312 - 121888);
}

TEST(CorpusAssign, ReportsFromTextsEqualXlasAsFarAsTextTells) {
  Counts counts;
  for (const std::string& file : CorpusFiles("after_optimizations.txt")) {
    const std::string assignment = Sibling(file, ".txt", kAssignmentEnding);
    if (!std::filesystem::exists(assignment) || ArchiveOf(file) == "scale") continue;
    const Result<Planned> plan = Plan(file, assignment);
    ASSERT_TRUE(plan.has_value()) << file << "\n" << Render(plan.error());
    const std::string theirs = BytesOf(assignment);
    const std::string ours = WriteAssignment(plan->report, plan->style.dialect);
    std::string name = ArchiveOf(file);
    if (name == "dialects") name = FolderOf(file);
    const auto part = [](const std::string& text) {
      return text.substr(0, text.find("\nTotal bytes used"));
    };
    Count(counts, name + " assignment", part(ours) == part(theirs));
    Count(counts, name + " assignment without numbers",
          WithoutNumbers(ours) == WithoutNumbers(theirs));
    const std::string live_file = Sibling(file, ".txt", "-live-range.txt");
    const std::string all = std::filesystem::exists(live_file) ? BytesOf(live_file) : theirs;
    const size_t at = all.find("HloLiveRange");
    Count(counts, name + " live ranges",
          at != std::string::npos &&
              all.substr(at) == WriteLiveRanges(plan->report, plan->style.dialect));
  }
  // modules equal, equal without numbers, live ranges equal
  struct Level {
    std::string_view name;
    int exact, without_numbers, live;
  };
  constexpr Level kLevels[] = {
      {"cpu", 50, 54, 54},       {"cpu11", 53, 54, 30},        {"gpu", 26, 50, 16},
      {"tpu", 39, 54, 47},       {"cpu_tf22", 0, 7, 0},        {"cpu_tf24", 0, 7, 0},
      {"cpu_tf26", 0, 7, 2},     {"cpu_tf28", 0, 7, 2},        {"cpu_tf211", 3, 7, 5},
      {"cpu_0413", 7, 7, 7},     {"cpu_0425", 7, 7, 7},        {"cpu_0430", 7, 7, 7},
      {"cpu_0435", 7, 7, 7},     {"cpu_050", 7, 7, 7},         {"cpu_060", 6, 7, 6},
      {"cpu_072", 6, 7, 6},      {"cpu_082", 6, 7, 7},         {"cpu_090", 7, 7, 7},
      {"cpu_0100", 7, 7, 7},     {"cpu_new", 6, 7, 7},         {"cpu_more", 4, 4, 4},
      {"dyn_cpu", 1, 1, 1},      {"tpu_0435_v5e", 2, 7, 7},    {"tpu_050_v5e", 1, 2, 2},
      {"tpu_060_v5e", 4, 7, 6},  {"tpu_072_v5e", 3, 7, 5},     {"tpu_082_v5e", 6, 7, 7},
      {"tpu_new_v5e", 6, 7, 7},  {"tpu_more_v5e", 6, 7, 7},    {"tpu_new_v4", 7, 7, 7},
      {"tpu_new_v6e", 6, 7, 7},  {"tpu_new_v7x", 6, 7, 7},     {"tpu_sm_v22x2", 2, 2, 2},
      {"tpu_sm_v32x2", 2, 2, 2}, {"tpu_sm_v5p2x2x1", 2, 2, 2}, {"tpu_sm_v5p4x4x4", 2, 2, 2},
      {"dyn_tpu", 1, 1, 1},
  };
  std::map<std::string, int> levels;
  for (const Level& level : kLevels) {
    const std::string name(level.name);
    levels[name + " assignment"] = level.exact;
    levels[name + " assignment without numbers"] = level.without_numbers;
    levels[name + " live ranges"] = level.live;
  }
  CheckLevels(counts, levels);
}

}  // namespace
}  // namespace stowplan::report
