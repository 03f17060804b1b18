// SPDX-License-Identifier: Apache-2.0
// Policy `best` on each module of the corpus: sound, never larger than XLA's plan, and near the
// bound.
#include "best/best.h"

#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/report_files.h"
#include "property/plan_laws.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

struct Program {
  hlo::Module module;
  Rules rules;
  Analysis analysis;
  std::optional<Preset> preset;
};

Result<Program> ReadProgram(const std::string& file) {
  Program program;
  STOWPLAN_TRY(program.module, ReadModule(file));
  program.module.buffer_assignment = {};
  program.rules = RulesOf(*FindTarget(TargetOf(file)), VersionOf(file));
  STOWPLAN_TRY(program.analysis, Analyze(program.module, program.rules.analysis));
  const std::string assignment = report::Sibling(file, ".hlo.pb", report::kAssignmentEnding);
  if (program.rules.preset_space >= 0 && std::filesystem::exists(assignment)) {
    STOWPLAN_TRY(const report::Report report, report::ReadFiles({assignment}));
    STOWPLAN_TRY(program.preset, report::PresetFrom(program.module, program.analysis, report,
                                                    program.rules.preset_space));
  }
  return program;
}

// The plan of the module, looked over.
void CheckProgram(const Program& program, BestPlan& best) {
  const Result<Assignment> xla =
      Assign(program.module, program.analysis, program.rules, program.preset);
  ASSERT_TRUE(xla.has_value());
  Result<BestPlan> plan =
      AssignBest(program.module, program.analysis, program.rules, program.preset, {});
  ASSERT_TRUE(plan.has_value()) << Render(plan.error());
  best = *std::move(plan);
  ASSERT_EQ(Render(FindOverlaps(program.module, program.analysis, best.assignment)), "");
  const AnalyzedPlan laws = {program.analysis, best.assignment};
  ASSERT_NO_FATAL_FAILURE(CheckPlaces(program.module, laws, program.rules));
  ASSERT_NO_FATAL_FAILURE(CheckBuffers(laws));
  std::map<int64_t, int64_t> theirs = BytesBySpace(*xla);
  for (const auto& [color, bytes] : BytesBySpace(best.assignment)) ASSERT_LE(bytes, theirs[color]);
  for (const BestHeap& heap : best.heaps) {
    ASSERT_LE(heap.bytes, heap.xla_bytes);
    ASSERT_LE(heap.bound, heap.bytes);
    ASSERT_LE(heap.floor, heap.bytes);
  }
}

TEST(CorpusBest, IsSoundNeverLargerAndNearTheBound) {
  double logs = 0;
  int count = 0;
  for (const std::string& file : CorpusProtos()) {
    if (ArchiveOf(file) == "dialects") continue;
    const Result<Program> program = ReadProgram(file);
    ASSERT_TRUE(program.has_value()) << file << "\n" << Render(program.error());
    BestPlan best;
    ASSERT_NO_FATAL_FAILURE(CheckProgram(*program, best)) << file;
    for (const BestHeap& heap : best.heaps) {
      if (heap.xla_bytes < 1'000'000) continue;
      logs += std::log(static_cast<double>(heap.bytes) / static_cast<double>(heap.bound));
      ++count;
    }
    // The files are those of a report without contradictions; large ones take long.
    if (program->module.instructions.size() < 2000) {
      const AnalyzedPlan plan = {program->analysis, best.assignment};
      ASSERT_NO_FATAL_FAILURE(CheckReports(program->module, plan, VersionOf(file))) << file;
    }
  }
  const double above = std::exp(logs / count) - 1;
  std::cout << count << " heaps, " << 100 * above
            << " % above their bounds in the geometric mean\n";
  EXPECT_GE(count, 50);
  EXPECT_LE(above, 0.0005);
}

TEST(CorpusBest, OfRandomProgramsIsSoundAndNeverLarger) {
  const std::string folder = std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kOracle);
  for (const std::string& file : FilesBelow(folder, ".hlo.pb")) {
    const Result<Program> program = ReadProgram(file);
    ASSERT_TRUE(program.has_value()) << file << "\n" << Render(program.error());
    BestPlan best;
    ASSERT_NO_FATAL_FAILURE(CheckProgram(*program, best)) << file;
  }
}

}  // namespace
}  // namespace stowplan
