// SPDX-License-Identifier: Apache-2.0
// Advice for each module of the corpus that is not large: the changed program is well-formed, also
// as text; its plan is sound; and what is said to be saved is what a plan of it from the beginning
// shows.
#include "advise/advice.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
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
  std::map<EditKind, int64_t> counts;
  std::map<EditKind, int64_t> saved;
  int64_t programs = 0;
  int64_t with_advice = 0;
  int64_t unchecked = 0;
  for (const std::string& file : CorpusProtos()) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    if (module->instructions.size() > kMostInstructions) continue;
    const Setting setting = {RulesOf(*FindTarget(TargetOf(file)), VersionOf(file)),
                             *report::FindReportStyle(VersionOf(file))};
    // Places that a TPU compiler chose belong to the program as it was; the command line keeps
    // them, this test does not.
    AdviseOptions options;
    options.candidates = 8;
    const Result<AdviceReport> report = Advise(*module, setting, options);
    if (!report) continue;
    ++programs;
    if (!report->unknown.empty()) ++unchecked;
    if (!report->advice.empty()) ++with_advice;
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
      ++counts[advice.edits[0].kind];
      saved[advice.edits[0].kind] += advice.saved;
    }
  }
  std::cout << programs << " programs, " << with_advice << " with advice, " << unchecked
            << " whose own plan does not pass the checker\n";
  for (const auto& [kind, count] : counts)
    std::cout << Name(kind) << ": " << count << " pieces, " << saved[kind] << " bytes\n";
  EXPECT_GT(with_advice, 0);
}

}  // namespace
}  // namespace stowplan::advise
