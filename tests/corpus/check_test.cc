// SPDX-License-Identifier: Apache-2.0
// No false alarm: every plan that XLA wrote is sound, with the program and, as far as live ranges
// decide it, without.
#include "check/check.h"

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "report/from_proto.h"
#include "stowplan/session.h"

namespace stowplan::check {
namespace {

// plans, sound, of these with findings all the same, unsound, not checked, reads
enum Column : uint8_t { kPlans, kSound, kInconsistent, kUnsound, kUnchecked, kReads, kColumns };

// CountRows by archive, and how often each finding was made.
struct Counts {
  CountRows rows;
  std::map<std::string, int64_t> findings;

  void Add(const std::string& archive, const Result<Verdict>& verdict) {
    CountRow& row = rows.try_emplace(archive, kColumns).first->second;
    ++row[kPlans];
    if (!verdict) {
      ++row[kUnchecked];
      return;
    }
    row[verdict->is_unsound() ? kUnsound : verdict->is_sound() ? kSound : kUnchecked] += 1;
    row[kInconsistent] += verdict->is_sound() && !verdict->is_fine() ? 1 : 0;
    row[kReads] += verdict->reads;
    for (const Finding& finding : verdict->findings) ++findings[std::string(Name(finding.code))];
  }
  [[nodiscard]] CountRow sum() const {
    CountRow sum;
    for (const auto& [archive, row] : rows) sum += row;
    return sum;
  }
};

// The figures of docs/check.md.
void ExpectInDocs(const std::string& what, const Counts& counts) {
  CountRows table =
      DocTable("check.md",
               "| plans of XLA | plans | sound | inconsistent | unsound | not checked | reads |");
  EXPECT_EQ(ToText(what, counts.sum()), ToText(what, table[what]));
}

void Show(const std::string& file, const Verdict& verdict) {
  int shown = 0;
  for (const Finding& finding : verdict.findings) {
    if (++shown > 5) break;
    ADD_FAILURE() << file << "\n" << Describe(finding);
  }
}

void CheckOne(const std::string& file, const hlo::Module& module, const report::Report& report,
              Counts& counts) {
  const Result<Verdict> verdict = CheckPlan(module, report, *FindTarget(TargetOf(file)));
  EXPECT_TRUE(verdict.has_value()) << file << "\n" << Render(verdict.error());
  counts.Add(ArchiveOf(file), verdict);
  if (verdict) Show(file, *verdict);
}

TEST(CorpusCheck, PlansOfProtosAreSound) {
  Counts reports;
  Counts protos;
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, ".hlo.pb")) {
    const std::string assignment = report::Sibling(file, ".hlo.pb", report::kAssignmentEnding);
    if (!std::filesystem::exists(assignment)) continue;
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Result<report::Report> report = report::ReadAllOf(assignment);
    ASSERT_TRUE(report.has_value()) << file;
    CheckOne(file, *module, *report, reports);
    if (module->buffer_assignment.size == 0) continue;
    const Result<report::Report> inner = report::ReportFromModule(*module);
    ASSERT_TRUE(inner.has_value()) << file;
    CheckOne(file, *module, *inner, protos);
  }
  ExpectRows(reports.rows, {
                               {"cpu", {54, 54, 0, 0, 0, 14748}},
                               {"cpu11", {54, 54, 0, 0, 0, 14120}},
                               {"explain", {114, 114, 0, 0, 0, 5577}},
                               {"gpu", {50, 50, 0, 0, 0, 11237}},
                               {"oracle", {756, 755, 0, 0, 1, 54585}},
                               {"oracle_tpu", {9, 9, 0, 0, 0, 1595}},
                               {"scale", {3, 3, 0, 0, 0, 36240}},
                               {"tpu", {54, 54, 0, 0, 0, 30434}},
                           });
  ExpectRows(protos.rows, {
                              {"cpu", {54, 54, 0, 0, 0, 14748}},
                              {"cpu11", {54, 54, 0, 0, 0, 14120}},
                              {"explain", {114, 114, 0, 0, 0, 5577}},
                              {"gpu", {50, 50, 0, 0, 0, 11237}},
                              {"oracle", {756, 755, 0, 0, 1, 54585}},
                              {"oracle_tpu", {9, 9, 0, 0, 0, 1595}},
                              {"scale", {3, 3, 0, 0, 0, 36240}},
                              {"tpu", {54, 54, 0, 0, 0, 30434}},
                          });
  EXPECT_TRUE(reports.findings.empty());
  EXPECT_TRUE(protos.findings.empty());
  ExpectInDocs(".hlo.pb with its reports", reports);
  ExpectInDocs(".hlo.pb alone", protos);
}

TEST(CorpusCheck, PlansOfTextsAreSound) {
  Counts counts;
  CountRows without_order;  // neither the module nor the report has one
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, "after_optimizations.txt")) {
    const std::string assignment = report::Sibling(file, ".txt", report::kAssignmentEnding);
    if (!std::filesystem::exists(assignment)) continue;
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Result<report::Report> report = report::ReadAllOf(assignment);
    ASSERT_TRUE(report.has_value()) << file;
    if (!module->header.is_scheduled && !report->live_ranges) {
      without_order[FolderOf(file)] += {1};
      EXPECT_FALSE(CheckPlan(*module, *report, *FindTarget(TargetOf(file))).has_value()) << file;
      continue;
    }
    CheckOne(file, *module, *report, counts);
  }
  ExpectRows(counts.rows, {
                              {"cpu", {54, 54, 0, 0, 0, 14748}},
                              {"cpu11", {54, 54, 0, 0, 0, 14120}},
                              {"dialects", {177, 177, 0, 0, 0, 4797}},
                              {"explain", {114, 114, 0, 0, 0, 5577}},
                              {"gpu", {50, 50, 0, 0, 0, 11237}},
                              {"scale", {3, 3, 0, 0, 0, 36240}},
                              {"tpu", {54, 54, 0, 0, 0, 30434}},
                          });
  EXPECT_TRUE(counts.findings.empty());
  // These are checked by their reports alone.
  ExpectRows(without_order, {{"cpu_tf22", {7}}, {"cpu_tf24", {7}}});
  ExpectInDocs("text with its reports", counts);
}

TEST(CorpusCheck, ReportsAloneAreSound) {
  Counts counts;
  const auto check = [&](const std::string& archive, const std::string& file,
                         const Result<report::Report>& report) {
    ASSERT_TRUE(report.has_value()) << file;
    const Verdict verdict = CheckReport(*report);
    counts.Add(archive, verdict);
    Show(file, verdict);
  };
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, report::kAssignmentEnding))
    check(ArchiveOf(file), file, report::ReadAllOf(file));
  for (const std::string& file : FilesBelow(STOWPLAN_TESTS_DIR "/../examples/seeds", ".txt"))
    check("seeds", file, report::ReadFiles({file}));
  ExpectRows(counts.rows, {
                              {"cpu", {54, 54, 0, 0, 0, 1169}},
                              {"cpu11", {54, 54, 0, 0, 0, 1241}},
                              {"dialects", {191, 191, 0, 0, 0, 969}},
                              {"explain", {114, 114, 0, 0, 0, 628}},
                              {"gpu", {50, 50, 0, 0, 0, 875}},
                              {"oracle", {756, 746, 0, 0, 10, 5273}},
                              {"oracle_tpu", {9, 9, 0, 0, 0, 206}},
                              {"scale", {3, 3, 0, 0, 0, 1317}},
                              {"seeds", {5, 5, 0, 0, 0, 0}},
                              {"tpu", {54, 54, 0, 0, 0, 1062}},
                          });
  EXPECT_TRUE(counts.findings.empty());
  ExpectInDocs("report alone", counts);
}

}  // namespace
}  // namespace stowplan::check
