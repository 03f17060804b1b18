// SPDX-License-Identifier: Apache-2.0
// No false alarm: every plan that XLA wrote is sound, with the program and without.
#include "check/check.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/report_files.h"
#include "report/from_proto.h"
#include "stowplan/session.h"

namespace stowplan::check {
namespace {

struct Count {
  int modules = 0;
  int sound = 0;
  int fine = 0;
  int64_t reads = 0;
};
using Counts = std::map<std::string, Count>;

// A real finding, or so it seems: a scatter that adds to rows of an array what it reads from other
// rows of the same array, in place. docs/check.md has the story.
bool IsKnown(const std::string& file, const Verdict& verdict) {
  return file.find("tpu-v2-libtpu-0.0.51/r11020") != std::string::npos &&
         verdict.findings.size() == 1 && verdict.findings[0].code == Code::kInPlace &&
         verdict.findings[0].found.instruction == "scatter_custom_fusion";
}

void Show(const std::string& file, const Verdict& verdict) {
  if (IsKnown(file, verdict)) return;
  int shown = 0;
  for (const Finding& finding : verdict.findings) {
    if (++shown > 5) break;
    ADD_FAILURE() << file << "\n" << Describe(finding);
  }
}

void CheckOne(const std::string& file, const hlo::Module& module, const report::Report& report,
              Count& count) {
  const Result<Verdict> verdict = CheckPlan(module, report, *FindTarget(TargetOf(file)));
  if (!verdict) {
    ADD_FAILURE() << Render(verdict.error());
    return;
  }
  ++count.modules;
  count.sound += verdict->is_sound() ? 1 : 0;
  count.fine += verdict->is_fine() ? 1 : 0;
  count.reads += verdict->reads;
  Show(file, *verdict);
}

void Print(const Counts& counts) {
  for (const auto& [name, count] : counts)
    std::cout << name << ": sound " << count.sound << " of " << count.modules << ", consistent "
              << count.fine << ", " << count.reads << " reads\n";
}

TEST(CorpusCheck, PlansOfProtosAreSound) {
  Counts counts;
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, ".hlo.pb")) {
    const std::string assignment = report::Sibling(file, ".hlo.pb", report::kAssignmentEnding);
    if (!std::filesystem::exists(assignment)) continue;
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Result<report::Report> report = report::ReadAllOf(assignment);
    ASSERT_TRUE(report.has_value()) << file;
    CheckOne(file, *module, *report, counts[ArchiveOf(file)]);
    if (module->buffer_assignment.size == 0) continue;
    const Result<report::Report> inner = report::ReportFromModule(*module);
    ASSERT_TRUE(inner.has_value()) << file;
    CheckOne(file, *module, *inner, counts[ArchiveOf(file) + ", as the proto has it"]);
  }
  Print(counts);
}

TEST(CorpusCheck, PlansOfTextsAreSound) {
  Counts counts;
  int without_order = 0;
  for (const std::string& file : CorpusFiles("after_optimizations.txt")) {
    const std::string assignment = report::Sibling(file, ".txt", report::kAssignmentEnding);
    if (!std::filesystem::exists(assignment)) continue;
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Result<report::Report> report = report::ReadAllOf(assignment);
    ASSERT_TRUE(report.has_value()) << file;
    if (!module->header.is_scheduled && !report->live_ranges) {
      ++without_order;
      continue;
    }
    CheckOne(file, *module, *report, counts[ArchiveOf(file)]);
  }
  Print(counts);
  std::cout << without_order << " without any order\n";
}

TEST(CorpusCheck, ReportsAloneAreSound) {
  Counts counts;
  std::vector<std::string> files = FilesBelow(STOWPLAN_CORPUS_DIR, report::kAssignmentEnding);
  for (const std::string& seed : FilesBelow(STOWPLAN_TESTS_DIR "/../examples/seeds", ".txt"))
    files.push_back(seed);
  for (const std::string& file : files) {
    const Result<report::Report> report = file.ends_with(report::kAssignmentEnding)
                                              ? report::ReadAllOf(file)
                                              : report::ReadFiles({file});
    ASSERT_TRUE(report.has_value()) << file;
    const Verdict verdict = CheckReport(*report);
    const bool is_seed = file.find("examples/seeds") != std::string::npos;
    Count& count = counts[is_seed ? "seeds" : ArchiveOf(file)];
    ++count.modules;
    count.sound += verdict.is_sound() ? 1 : 0;
    count.fine += verdict.is_fine() ? 1 : 0;
    count.reads += verdict.reads;
    Show(file, verdict);
  }
  Print(counts);
}

}  // namespace
}  // namespace stowplan::check
