// SPDX-License-Identifier: Apache-2.0
// Advice for each module of the corpus that is not large: the changed program is well-formed, also
// as text; its plan is sound; and what is said to be saved is what a plan of it from the beginning
// shows.
#include "advise/advice.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "advise/fit_advice.h"
#include "corpus/compilers.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "hlo/print.h"
#include "hlo/verify.h"
#include "stowplan/session.h"
#include "text/parse.h"

namespace stowplan::advise {
namespace {

constexpr size_t kMostInstructions = 4000;

void CheckAdvice(const hlo::Module& module, const Setting& setting, const AdviceReport& report,
                 const Advice& advice) {
  const SpaceFigures old = report.before.Space(report.space);
  const SpaceFigures now = advice.after.Space(report.space);
  EXPECT_EQ(advice.saved, old.bytes - now.bytes);
  EXPECT_EQ(advice.saved_peak, old.peak - now.peak);
  EXPECT_FALSE(advice.what.empty());
  if (advice.edits[0].kind == EditKind::kPack) return;
  const Result<hlo::Module> changed = Apply(module, advice.edits, setting);
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(Render(hlo::Verify(*changed)), "");
  const Result<hlo::Module> again =
      ParseText(Source::FromBytes("changed.txt", hlo::ToString(*changed)));
  ASSERT_TRUE(again.has_value()) << Render(again.error());
  EXPECT_EQ(Render(hlo::Verify(*again)), "");
  const Result<Plan> plan = PlanOf(*changed, setting, std::nullopt);
  ASSERT_TRUE(plan.has_value()) << Render(plan.error());
  EXPECT_EQ(plan->figures, advice.after);
  EXPECT_EQ(WhyUnsound(*changed, plan->tried.made, setting), "");
}

TEST(CorpusAdvice, IsWhatAFreshPlanShows) {
  CountRows
      programs;      // planned, with advice, with a plan of their own that is not sound, too large
  CountRows pieces;  // of each kind of advice: how many, and what they save in bytes
  for (const std::string& file : CorpusProtos()) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    CountRow& row = programs.try_emplace(ArchiveOf(file), 4).first->second;
    if (module->instructions.size() > kMostInstructions) {
      ++row[3];
      continue;
    }
    const Setting setting = {RulesOf(*FindTarget(TargetOf(file)), VersionOf(file)),
                             *report::FindReportStyle(VersionOf(file))};
    // Places that a TPU compiler chose belong to the program as it was; the command line keeps
    // them, this test does not.
    AdviseOptions options;
    options.candidates = 8;
    const Result<AdviceReport> report = Advise(*module, setting, options);
    ASSERT_TRUE(report.has_value()) << file << Render(report.error());
    row += {1, report->advice.empty() ? 0 : 1, report->unknown.empty() ? 0 : 1, 0};
    EXPECT_TRUE(std::ranges::is_sorted(report->advice, std::ranges::greater(), &Advice::saved));
    std::vector<Advice> all = report->advice;
    if (report->together) {
      for (const Advice& advice : report->advice) {
        if (advice.edits[0].kind == EditKind::kPack) continue;
        EXPECT_GE(report->together->saved, advice.saved) << file;
      }
      all.push_back(*report->together);
    }
    for (const Advice& advice : all) {
      ASSERT_NO_FATAL_FAILURE(CheckAdvice(*module, setting, *report, advice))
          << file << ": " << advice.what;
      if (::testing::Test::HasFailure()) FAIL() << file << ": " << advice.what;
      if (advice.edits.size() != 1) continue;
      pieces[ArchiveOf(file) + " " + std::string(Name(advice.edits[0].kind))] += {1, advice.saved};
    }
  }
  ExpectRows(programs, {
                           {"cpu", {52, 45, 0, 2}},
                           {"cpu11", {52, 44, 0, 2}},
                           {"gpu", {48, 41, 0, 2}},
                           {"scale", {0, 0, 0, 3}},
                           {"tpu", {52, 43, 0, 2}},
                       });
  ExpectRows(pieces, {
                         {"cpu donate", {39, 5580441}},
                         {"cpu drop-copy", {14, 3457344}},
                         {"cpu move-earlier", {20, 163985856}},
                         {"cpu move-later", {71, 132278016}},
                         {"cpu pack", {16, 12177024}},
                         {"cpu rematerialize", {13, 9862104}},
                         {"cpu11 donate", {37, 5318297}},
                         {"cpu11 drop-copy", {13, 542976}},
                         {"cpu11 move-earlier", {23, 164229632}},
                         {"cpu11 move-later", {70, 116042624}},
                         {"cpu11 pack", {16, 15295948}},
                         {"cpu11 rematerialize", {10, 8452032}},
                         {"gpu donate", {35, 1515861}},
                         {"gpu drop-copy", {1, 512}},
                         {"gpu move-earlier", {1, 3840}},
                         {"gpu move-later", {5, 102144}},
                         {"gpu pack", {16, 1594107}},
                         {"gpu rematerialize", {8, 2472448}},
                         // Not f32[10,10] for f32[13,13], which take the same bytes here: JAX
                         // donates only for as many elements.
                         {"tpu donate", {44, 10322432}},
                         {"tpu drop-copy", {1, 16384}},
                         {"tpu move-earlier", {1, 0}},
                         {"tpu move-later", {4, 8208384}},
                         {"tpu pack", {17, 1671168}},
                     });
}

// What `fit` finds for a little more work: the program is well-formed, also as text, costs what is
// allowed, and has a sound plan by XLA's rules. How many of them save something depends on a search
// that may become better, so only the least is expected.
TEST(CorpusAdvice, RecomputationIsSound) {
  CountRows counts;  // programs, with recomputation, of which the plan by XLA's rules is smaller
  for (const std::string& file : CorpusProtos()) {
    const std::string archive = ArchiveOf(file);
    Result<hlo::Module> read = ReadModule(file);
    ASSERT_TRUE(read.has_value()) << file;
    if (read->instructions.size() > kMostInstructions || archive == "cpu") continue;
    const auto module = std::make_shared<const hlo::Module>(*std::move(read));
    const Setting setting = {RulesOf(*FindTarget(TargetOf(file)), VersionOf(file)),
                             *report::FindReportStyle(VersionOf(file))};
    PlannedModule planned;
    planned.name = file;
    planned.module = module;
    PlanOptions options;
    options.target = TargetOf(file);
    options.release = VersionOf(file);
    CountRow& row = counts.try_emplace(archive, 3).first->second;
    row += {1, 0, 0};
    const std::optional<Recomputed> found = Recomputer(planned, options, {})(*module);
    if (!found) continue;
    row += {0, 1, 0};
    EXPECT_LE(found->cost, 0.1) << file;
    ASSERT_FALSE(found->lines.empty()) << file;
    EXPECT_EQ(Render(hlo::Verify(found->module)), "") << file;
    const Result<hlo::Module> again =
        ParseText(Source::FromBytes("changed.txt", hlo::ToString(found->module)));
    ASSERT_TRUE(again.has_value()) << file << Render(again.error());
    const Result<Plan> before = PlanOf(*module, setting, std::nullopt);
    const Result<Plan> after = PlanOf(found->module, setting, std::nullopt);
    ASSERT_TRUE(before.has_value() && after.has_value()) << file;
    EXPECT_EQ(WhyUnsound(found->module, after->tried.made, setting), "") << file;
    if (after->figures.Space(0).bytes < before->figures.Space(0).bytes) row += {0, 0, 1};
  }
  for (const auto& [archive, row] : counts) {
    RecordProperty(archive, ToText(archive, row));
    // On TPUs, programs are arranged for fast memory already.
    if (archive != "tpu") {
      EXPECT_GE(row[2], 3) << ToText(archive, row);
    }
  }
}

// Programs that were written to donate, as they are without it. Of each: what is advised first; how
// many pieces there are, what the first saves of all bytes and of the peak, and what all that go
// together save.
TEST(CorpusAdvice, IsTheSameForNamedPrograms) {
  CountRows rows;
  for (const std::string& file :
       FilesBelow(STOWPLAN_CORPUS_DIR "/explain/donate", "after_optimizations.hlo.pb")) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (folder.filename() != "before") continue;
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Setting setting = {RulesOf(*FindTarget(TargetOf(file)), VersionOf(file)),
                             *report::FindReportStyle(VersionOf(file))};
    const Result<AdviceReport> report = Advise(*module, setting, {});
    ASSERT_TRUE(report.has_value()) << file << Render(report.error());
    std::string name = folder.parent_path().filename().string();
    if (report->advice.empty()) {
      rows[name + ": nothing"] = {};
      continue;
    }
    const Advice& first = report->advice.front();
    rows[name + ": " + first.what] = {std::ssize(report->advice), first.saved, first.saved_peak,
                                      report->together ? report->together->saved : 0};
  }
  ExpectRows(rows, {
                       {"accumulate: donate params", {7, 526592, 655616, 788736}},
                       {"adam: donate state", {3, 397828, 1022564, 1022468}},
                       {"adam_state_only: donate state", {3, 397828, 1022564, 1022468}},
                       {"clipped: donate params", {6, 264192, 0, 294528}},
                       {"ema: donate params", {4, 362752, 364860, 624896}},
                       {"kv_cache: donate cache", {3, 1048576, 1048576, 1050624}},
                       {"master_weights: donate master", {5, 239744, 132220, 0}},
                       {"momentum: donate velocity", {5, 362752, 364860, 627200}},
                       {"momentum_weights_only: donate velocity", {5, 362752, 364860, 627200}},
                       {"only_sum: nothing", {}},
                       {"other_shape: nothing", {}},
                       {"other_type: nothing", {}},
                       {"power_loop: donate v", {2, 131072, 131072, 131072}},
                       {"read_after_write: donate w", {1, 0, 1048576, 0}},
                       {"ring_buffer: donate buffer", {2, 524288, 524288, 524288}},
                       {"row_update: donate table", {3, 2097152, 2097152, 2097213}},
                       {"same_bytes: nothing", {}},
                       {"scan_carry: donate state", {2, 262144, 262144, 0}},
                       {"scatter_add: donate table", {1, 2097152, 2097152, 0}},
                       {"several_alike: donate x", {2, 1048576, 1048576, 1048576}},
                       {"sgd: donate params", {7, 264192, 0, 297216}},
                       {"solver_step: donate f", {1, 1048576, 1048576, 0}},
                       {"sorted_in_place: nothing", {}},
                       {"swapped: donate b", {1, 0, 16, 0}},
                       {"two_for_one: nothing", {}},
                       {"two_of_three: donate a", {2, 0, 16, 0}},
                   });
}

}  // namespace
}  // namespace stowplan::advise
