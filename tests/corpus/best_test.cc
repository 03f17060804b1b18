// SPDX-License-Identifier: Apache-2.0
// Policy `best` on each module of the corpus: sound, never larger than XLA's plan, and near the
// bound.
#include "best/best.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/recorded.h"
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
  int64_t count = 0;
  CountRows programs;
  CountRows heaps;  // of a megabyte and more: how many, bytes of XLA, ours, the proved bound
  for (const std::string& file : CorpusProtos()) {
    if (ArchiveOf(file) == "dialects") continue;
    const Result<Program> program = ReadProgram(file);
    ASSERT_TRUE(program.has_value()) << file << "\n" << Render(program.error());
    BestPlan best;
    ASSERT_NO_FATAL_FAILURE(CheckProgram(*program, best)) << file;
    programs[ArchiveOf(file)] += {1};
    for (const BestHeap& heap : best.heaps) {
      if (heap.xla_bytes < 1'000'000) continue;
      logs += std::log(static_cast<double>(heap.bytes) / static_cast<double>(heap.bound));
      ++count;
      heaps[ArchiveOf(file)] += {1, heap.xla_bytes, heap.bytes, heap.bound};
    }
    // The files are those of a report without contradictions; large ones take long.
    if (program->module.instructions.size() < 2000) {
      const AnalyzedPlan plan = {program->analysis, best.assignment};
      ASSERT_NO_FATAL_FAILURE(CheckReports(program->module, plan, VersionOf(file))) << file;
    }
  }
  const double above = std::exp(logs / static_cast<double>(count)) - 1;
  ExpectRows(programs,
             {{"cpu", {54}}, {"cpu11", {54}}, {"gpu", {50}}, {"scale", {3}}, {"tpu", {54}}});
  ExpectRows(heaps, {
                        {"cpu", {16, 11468458212, 11414382436, 11414382436}},
                        {"cpu11", {16, 7266242724, 7167870936, 7167870936}},
                        {"gpu", {13, 4366787960, 4317259624, 4317259624}},
                        {"scale", {3, 393931824, 388830980, 388830728}},
                        {"tpu", {5, 2608531968, 2524432384, 2524416512}},
                    });
  EXPECT_LE(above, 0.0005);
}

TEST(CorpusBest, OfRandomProgramsIsSoundAndNeverLarger) {
  const std::string folder = std::string(STOWPLAN_CORPUS_DIR) + "/" + std::string(kOracle);
  CountRows programs;  // how many, bytes of XLA, ours
  for (const std::string& file : FilesBelow(folder, ".hlo.pb")) {
    const Result<Program> program = ReadProgram(file);
    ASSERT_TRUE(program.has_value()) << file << "\n" << Render(program.error());
    BestPlan best;
    ASSERT_NO_FATAL_FAILURE(CheckProgram(*program, best)) << file;
    CountRow& row = programs[FolderOf(file)] += {1, 0, 0};
    for (const BestHeap& heap : best.heaps) row += {0, heap.xla_bytes, heap.bytes};
  }
  ExpectRows(programs, {
                           {"cpu-jaxlib-0.10.2", {120, 46485875, 46436511}},
                           {"cpu-jaxlib-0.10.2-unfused", {30, 44138472, 44130784}},
                           {"cpu-jaxlib-0.11.2", {50, 2524588, 2470399}},
                           {"gpu-jaxlib-0.11.2", {110, 109436594, 109365818}},
                           {"gpu-jaxlib-0.11.2-collective", {28, 131127796, 130339292}},
                           {"gpu-jaxlib-0.11.2-devices", {28, 127532060, 123794149}},
                           {"gpu-jaxlib-0.11.2-heaps", {14, 123405423, 122010868}},
                           {"gpu-jaxlib-0.11.2-heroes", {126, 52782344, 52782280}},
                           {"gpu-jaxlib-0.11.2-more", {48, 132184609, 130779686}},
                           {"gpu-jaxlib-0.11.2-pipelined", {6, 77712276, 74731036}},
                           {"tpu-v2-libtpu-0.0.51", {20, 7410688, 5826560}},
                           {"tpu-v3-libtpu-0.0.51", {40, 8512528, 5390352}},
                           {"tpu-v4-libtpu-0.0.51", {28, 821642360, 821053048}},
                           {"tpu-v5e-libtpu-0.0.51", {48, 5081316, 3869412}},
                           {"tpu-v5p-libtpu-0.0.51", {20, 831572568, 831221976}},
                           {"tpu-v6e-libtpu-0.0.51", {20, 821189240, 820713656}},
                           {"tpu-v7x-libtpu-0.0.51", {20, 2497620, 1824948}},
                       });
}

}  // namespace
}  // namespace stowplan
