// SPDX-License-Identifier: Apache-2.0
// Dumps of TensorFlow and PyTorch/XLA, as a user hands them over: all that is known of the compiler
// is what lies in the folder. Modules of TensorFlow until 2.15 have no schedule.
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "hlo/print.h"
#include "report/summary.h"
#include "report/write.h"
#include "schedule/make_schedule.h"
#include "session/sequence.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/session.h"

namespace stowplan::report {
namespace {

std::vector<std::string> FrameworkModules() {
  return FilesBelow(std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kFrameworks), ".hlo.pb");
}
std::string FrameworkOf(const std::string& file) {
  return std::next(std::filesystem::relative(file, STOWPLAN_CORPUS_DIR).begin())->string();
}
// cpu-torch_xla-2.9-debug: torch_xla-2.9
std::string FrameworkRelease(const std::string& folder) {
  const size_t begin = folder.find('-') + 1;
  return folder.substr(begin, folder.find('-', folder.find('-', begin) + 1) - begin);
}

// modules; the report of the plan made from the proto equals XLA's, but for the order of uses; the
// plan is sound; the rules are those of the release
TEST(CorpusFrameworks, PlansFromTheFolderAreXlas) {
  CountRows rows;
  for (const std::string& file : FrameworkModules()) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    const Result<Inputs> inputs = Open({folder});
    ASSERT_TRUE(inputs.has_value()) << Render(inputs.error());
    const Result<PlannedModule> given = LoadOne(*inputs, {.prefers_proto = true});
    ASSERT_TRUE(given.has_value()) << file << Render(given.error());
    const Result<PlannedModule> planned = Plan(*given, {});
    ASSERT_TRUE(planned.has_value()) << file << Render(planned.error());
    const std::string theirs = BytesOf(Sibling(file, ".hlo.pb", kAssignmentEnding));
    const std::string ours = WriteCombined(*planned->report, planned->report->dialect);
    const bool is_equal = WithSortedUses(ours) == WithSortedUses(theirs);
    if (!is_equal) std::cout << "differs: " << file << "\n";
    const auto known = hlo::FindDialect(FrameworkRelease(FrameworkOf(file)));
    const bool is_release = known && FindReportDialect(planned->release) ==
                                         FindReportDialect(FrameworkRelease(FrameworkOf(file)));
    rows[FrameworkOf(file)] +=
        {1, is_equal ? 1 : 0, planned->verdict.soundness == Soundness::kSound ? 1 : 0,
         is_release ? 1 : 0};
  }
  ExpectRows(rows, {
                       {"cpu-tf-2.12", {12, 12, 12, 12}},
                       {"cpu-tf-2.15", {12, 12, 12, 12}},
                       {"cpu-tf-2.21", {12, 12, 12, 12}},
                       // Rows of a usage report in no particular order may happen to be in the one
                       // of jaxlib 0.8.2, whose rules then lead to the same plans.
                       {"cpu-torch_xla-2.9", {13, 13, 13, 7}},
                       {"cpu-torch_xla-2.9-debug", {3, 3, 3, 3}},
                       {"cpu-torch_xla-2.9-spmd", {1, 1, 1, 1}},
                   });
}

// Planned from their texts, which have no numbers, modules run in the same order and take as much.
TEST(CorpusFrameworks, TextsAreScheduled) {
  for (const std::string& file : FrameworkModules()) {
    const Result<Inputs> inputs = Open({std::filesystem::path(file).parent_path().string()});
    ASSERT_TRUE(inputs.has_value()) << Render(inputs.error());
    const Result<PlannedModule> given = LoadOne(*inputs, {});
    ASSERT_TRUE(given.has_value()) << file << Render(given.error());
    EXPECT_TRUE(IsScheduled(*given->module)) << file;
    const Result<PlannedModule> planned = Plan(*given, {});
    ASSERT_TRUE(planned.has_value()) << file << Render(planned.error());
    EXPECT_EQ(planned->verdict.soundness, Soundness::kSound) << file;
    const Result<Summary> ours = Summarize(*planned->report);
    const Result<Summary> theirs = Summarize(*given->report);
    ASSERT_TRUE(ours && theirs) << file;
    EXPECT_EQ(ours->bytes, theirs->bytes) << file;
    EXPECT_EQ(ours->allocations, theirs->allocations) << file;
  }
}

// modules; the text printed as it was; the proto printed like the text
TEST(CorpusFrameworks, ModulesPrintAsTheyWereWritten) {
  CountRows rows;
  for (const std::string& file : FrameworkModules()) {
    const std::string text = BytesOf(Sibling(file, ".hlo.pb", ".txt"));
    const Result<hlo::Module> from_text = ReadModule(Sibling(file, ".hlo.pb", ".txt"));
    ASSERT_TRUE(from_text.has_value()) << file << Render(from_text.error());
    Result<hlo::Module> from_proto = ReadModule(file);
    ASSERT_TRUE(from_proto.has_value()) << file << Render(from_proto.error());
    CompleteFromDump(file, *from_proto);
    const bool is_equal = hlo::ToString(*from_proto) == text;
    if (!is_equal) std::cout << "differs: " << file << "\n";
    rows[FrameworkOf(file)] += {1, hlo::ToString(*from_text) == text ? 1 : 0, is_equal ? 1 : 0};
  }
  ExpectRows(rows, {
                       {"cpu-tf-2.12", {12, 12, 12}},
                       {"cpu-tf-2.15", {12, 12, 12}},
                       {"cpu-tf-2.21", {12, 12, 12}},
                       {"cpu-torch_xla-2.9", {13, 13, 13}},
                       {"cpu-torch_xla-2.9-debug", {3, 3, 3}},
                       {"cpu-torch_xla-2.9-spmd", {1, 1, 1}},
                   });
}

}  // namespace
}  // namespace stowplan::report
