// SPDX-License-Identifier: Apache-2.0
// The errors of XLA that docs/findings.md lists: plans that are unsound, and what is right beside
// them.
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "check/check.h"
#include "corpus/compilers.h"
#include "corpus/report_files.h"
#include "report/from_proto.h"
#include "report/read.h"
#include "stowplan/session.h"

namespace stowplan::check {
namespace {

std::string_view VerdictOf(const Verdict& verdict) {
  return verdict.is_unsound() ? "unsound" : verdict.is_sound() ? "sound" : "unchecked";
}

// MACHINE-COMPILER, VERDICT
std::pair<std::string, std::string> ExpectedOf(const std::string& file) {
  const std::filesystem::path inside = std::filesystem::relative(file, STOWPLAN_CORPUS_DIR);
  return {FolderOf(file), std::next(inside.begin(), 2)->string()};
}

TEST(CorpusErrors, AreFound) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR "/errors", ".hlo.pb")) {
    const auto expected = ExpectedOf(file);
    const std::optional<Target> target = FindTarget(TargetOf(file));
    ASSERT_TRUE(target.has_value()) << file;
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file;
    const Result<report::Report> inner = report::ReportFromModule(*module);
    ASSERT_TRUE(inner.has_value()) << file;
    const Result<report::Report> outer =
        report::ReadAllOf(report::Sibling(file, ".hlo.pb", report::kAssignmentEnding));
    ASSERT_TRUE(outer.has_value()) << file;
    for (const report::Report* report : {&*inner, &*outer}) {
      const Result<Verdict> verdict = CheckPlan(*module, *report, *target);
      ASSERT_TRUE(verdict.has_value()) << file << "\n" << Render(verdict.error());
      EXPECT_EQ(VerdictOf(*verdict), expected.second) << file;
      EXPECT_EQ(verdict->findings.empty(), expected.second != "unsound") << file;
    }
    ++counts[expected];
  }
  const std::map<std::pair<std::string, std::string>, int> recorded = {
      {{"cpu-jaxlib-0.4.35", "sound"}, 4},         {{"cpu-jaxlib-0.4.35", "unsound"}, 6},
      {{"cpu-jaxlib-0.6.2", "sound"}, 2},          {{"cpu-jaxlib-0.6.2", "unsound"}, 8},
      {{"cpu-jaxlib-0.11.2", "unsound"}, 10},      {{"cpu-jaxlib-0.12.0", "unsound"}, 10},
      {{"gpu-jaxlib-0.11.2", "sound"}, 12},        {{"gpu-jaxlib-0.11.2", "unsound"}, 28},
      {{"tpu-v5e-libtpu-0.0.51", "unchecked"}, 4}, {{"tpu-v5e-libtpu-0.0.51", "unsound"}, 1}};
  EXPECT_EQ(counts, recorded);
}

}  // namespace
}  // namespace stowplan::check
