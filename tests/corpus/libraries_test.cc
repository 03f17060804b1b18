// SPDX-License-Identifier: Apache-2.0
// Programs of third-party libraries that the checker or the planner was wrong about once. XLA's
// plans of them are right.
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "check/check.h"
#include "corpus/compilers.h"
#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "report/from_proto.h"
#include "report/write.h"
#include "stowplan/session.h"

namespace stowplan::report {
namespace {

std::vector<std::string> LibraryModules() {
  return FilesBelow(std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kLibraries), ".hlo.pb");
}

TEST(CorpusLibraries, PlansOfXlaAreSound) {
  for (const std::string& file : LibraryModules()) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file << Render(module.error());
    const Result<Report> inner = ReportFromModule(*module);
    ASSERT_TRUE(inner.has_value()) << file << Render(inner.error());
    const Result<Report> outer = ReadAllOf(Sibling(file, ".hlo.pb", kAssignmentEnding));
    ASSERT_TRUE(outer.has_value()) << file << Render(outer.error());
    for (const Report* report : {&*inner, &*outer}) {
      const Result<check::Verdict> verdict =
          check::CheckPlan(*module, *report, *FindTarget(TargetOf(file)));
      ASSERT_TRUE(verdict.has_value()) << file << Render(verdict.error());
      EXPECT_TRUE(verdict->is_sound()) << file;
      for (const check::Finding& finding : verdict->findings)
        ADD_FAILURE() << file << "\n" << check::Describe(finding);
      EXPECT_FALSE(check::CheckReport(*report).is_unsound()) << file;
    }
  }
}

// modules; the plan made from the proto is XLA's; the plan is sound; so is one in which Stowplan
// chooses the places in fast memory
TEST(CorpusLibraries, PlansAreXlas) {
  CountRows rows;
  for (const std::string& file : LibraryModules()) {
    const PlanOptions options = {.target = TargetOf(file), .release = VersionOf(file)};
    Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << file << Render(module.error());
    const Result<PlannedModule> planned = Plan(*module, options);
    ASSERT_TRUE(planned.has_value()) << file << Render(planned.error());
    const std::string ours = WriteAssignment(*planned->report, planned->report->dialect);
    const bool is_equal = ours == BytesOf(Sibling(file, ".hlo.pb", kAssignmentEnding));
    if (!is_equal) std::cout << "differs: " << file << "\n";
    module->buffer_assignment = {};  // as if the module had been read from its text
    const Result<PlannedModule> placed = Plan(*std::move(module), options);
    ASSERT_TRUE(placed.has_value()) << file << Render(placed.error());
    const auto is_sound = [](const PlannedModule& plan) {
      return plan.verdict.soundness == Soundness::kSound ? 1 : 0;
    };
    rows[FolderOf(file)] += {1, is_equal ? 1 : 0, is_sound(*planned), is_sound(*placed)};
  }
  ExpectRows(rows, {
                       {"cpu-jaxlib-0.10.2", {1, 1, 1, 1}},
                       {"gpu-jaxlib-0.11.2", {1, 1, 1, 1}},
                       {"tpu-v5e-libtpu-0.0.51", {5, 5, 5, 5}},
                       {"tpu-v6e-libtpu-0.0.51", {1, 1, 1, 1}},
                   });
}

}  // namespace
}  // namespace stowplan::report
