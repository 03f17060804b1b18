// SPDX-License-Identifier: Apache-2.0
// Recomputation in the smaller modules of the corpus: plans are sound and never larger, the bound
// is below them, and what is written is the same program. docs/fit.md has figures of larger ones.
#include "session/fit.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/corpus_files.h"
#include "cost/machine.h"
#include "cost/work.h"
#include "fit/loop_pairs.h"
#include "hlo/print.h"
#include "hlo/verify.h"
#include "page/fit_page.h"
#include "session/write_module.h"
#include "stowplan/session.h"
#include "unit/fit/meaning.h"
#include "unit/fit/unrolled_meaning.h"

namespace stowplan {
namespace {

constexpr size_t kMostInstructions = 400;

struct Counts {
  int64_t modules = 0;
  int64_t lower = 0;  // by recomputation
  int64_t rewritten = 0;
  int64_t unrolled = 0;  // with other loops
};

void FitModule(const std::string& file, Counts& counts) {
  Result<hlo::Module> module = ReadModule(file);
  ASSERT_TRUE(module) << file;
  if (module->schedule_of(module->entry).size() > kMostInstructions) return;
  module->buffer_assignment = {};
  FitOptions options;
  options.plan.target = TargetOf(file);
  options.plan.release = VersionOf(file);
  PlannedModule planned;
  planned.name = file;
  planned.module = std::make_shared<const hlo::Module>(*std::move(module));
  const Result<Fitted> fitted = Fit(planned, options);
  ASSERT_TRUE(fitted) << file << Render(fitted.error());
  const FitFacts& facts = fitted->facts;
  ASSERT_EQ(fitted->planned.verdict.soundness, Soundness::kSound) << file;
  EXPECT_LE(facts.bytes, facts.ordered_bytes) << file;
  EXPECT_LE(facts.ordered_bytes, facts.given_bytes) << file;
  EXPECT_LE(facts.bound, facts.bytes) << file;
  ++counts.modules;
  if (facts.bytes == facts.ordered_bytes) return;
  ++counts.lower;
  const Result<std::string> proto = WriteModule(*fitted->planned.module, fitted->origins);
  ASSERT_TRUE(proto) << file << Render(proto.error());
  const Result<hlo::Module> again = ParseModule(Source::FromBytes("again.hlo.pb", *proto));
  ASSERT_TRUE(again) << file << Render(again.error());
  EXPECT_TRUE(hlo::Verify(*again).empty()) << file;
  EXPECT_EQ(hlo::ToString(*again), hlo::ToString(*fitted->planned.module)) << file;
  if (MeaningOf(*again) != MeaningOf(*planned.module)) {
    // Loops hand on other things.
    Expressions expressions;
    EXPECT_TRUE(UnrolledMeaning(*again, expressions).Find() ==
                UnrolledMeaning(*planned.module, expressions).Find())
        << file;
    ++counts.unrolled;
  }
  // Each fusion has a computation of its own.
  std::vector<int> callers(again->computations.size(), 0);
  for (size_t i = 0; i < again->instructions.size(); ++i) {
    if (again->instructions[hlo::InstrId(i)].opcode != hlo::Opcode::kFusion) continue;
    for (const hlo::CompId callee : again->called_by(hlo::InstrId(i)))
      EXPECT_EQ(++callers[callee.index], 1) << file << again->name(callee);
  }
  ++counts.rewritten;
}

TEST(CorpusFit, LowersMemoryAndIsSound) {
  Counts counts;
  for (const std::string folder : {"cpu11", "gpu", "tpu"}) {
    for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR "/" + folder, ".hlo.pb"))
      ASSERT_NO_FATAL_FAILURE(FitModule(file, counts));
  }
  EXPECT_GE(counts.modules, 140);
  EXPECT_GE(counts.lower, 9);
  EXPECT_EQ(counts.rewritten, counts.lower);
  EXPECT_GE(counts.unrolled, 4);
}

// A byte less than what is proved to be needed is refused, and the witness is named.
TEST(CorpusFit, RefusesWhatIsProvedToBeImpossible) {
  int64_t refused = 0;
  for (const std::string folder : {"cpu11", "gpu"}) {
    for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR "/" + folder, ".hlo.pb")) {
      if (file.find("train") == std::string::npos) continue;
      Result<hlo::Module> module = ReadModule(file);
      ASSERT_TRUE(module) << file;
      module->buffer_assignment = {};
      PlannedModule planned;
      planned.name = file;
      planned.module = std::make_shared<const hlo::Module>(*std::move(module));
      FitOptions options;
      options.plan.target = TargetOf(file);
      options.plan.release = VersionOf(file);
      options.max_cost = 0;
      const Result<Fitted> free = Fit(planned, options);
      ASSERT_TRUE(free) << file << Render(free.error());
      ASSERT_GT(free->facts.bound, 0) << file;
      options.budget = free->facts.bound - 1;
      // Where that is quick, with as much recomputation as there may be.
      if (planned.module->schedule_of(planned.module->entry).size() <= kMostInstructions)
        options.max_cost = 1;
      const Result<Fitted> fitted = Fit(planned, options);
      ASSERT_TRUE(fitted) << file << Render(fitted.error());
      EXPECT_EQ(fitted->facts.bound, free->facts.bound) << file;
      EXPECT_GE(fitted->facts.bytes, fitted->facts.bound) << file;
      EXPECT_FALSE(page::Fits(fitted->facts, options)) << file;
      EXPECT_FALSE(fitted->facts.witness.empty()) << file;
      const std::string page = page::FitPage(*fitted, options);
      EXPECT_NE(page.find("cannot fit into"), std::string::npos) << file;
      std::string words = page;
      std::ranges::replace(words, '\n', ' ');
      EXPECT_NE(words.find("while `" + fitted->facts.witness + "` runs"), std::string::npos)
          << page;
      ++refused;
    }
  }
  EXPECT_GE(refused, 17);
}

int64_t TemporariesOf(const PlannedModule& planned) {
  int64_t sum = 0;
  for (const report::Allocation& allocation : planned.report->allocations.rows()) {
    if (allocation.color == 0 && allocation.is_temp()) sum += allocation.size;
  }
  return sum;
}

// Steps whose layers, or moments, are trips of a loop: 60 percent less at the cost of another
// forward pass, and results that are the same expressions.
TEST(CorpusFit, LoopsHandOnLess) {
  struct Case {
    std::string folder;
    double most;  // of temporaries: what was measured, and a little more
  };
  for (const Case& row : {Case{"cpu/lm_train_scan", 0.23}, Case{"cpu11/lm_train_scan", 0.23},
                          Case{"gpu/lm_train_scan", 0.21}, Case{"cpu/lstm_train", 0.32},
                          Case{"cpu11/lstm_train", 0.32}, Case{"gpu/lstm_train", 0.34}}) {
    const auto files = FilesBelow(STOWPLAN_CORPUS_DIR "/" + row.folder, ".hlo.pb");
    ASSERT_FALSE(files.empty()) << row.folder;
    const std::string& file = files[0];
    Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module) << file;
    module->buffer_assignment = {};
    FitOptions options;
    options.plan.target = TargetOf(file);
    options.plan.release = VersionOf(file);
    options.plan.policy = Policy::kBest;
    const std::vector<fit::LoopPair> pairs = fit::FindLoopPairs(*module);
    ASSERT_EQ(pairs.size(), 1U) << file;
    const Target target = *FindTarget(options.plan.target);
    const std::vector<cost::Work> works = cost::FindWork(*module, target);
    const auto seconds = [&](hlo::InstrId id) {
      return cost::SecondsOf(works[id.index], cost::MachineOf(target));
    };
    double whole = 0;
    for (const hlo::InstrId id : module->schedule_of(module->entry)) whole += seconds(id);
    options.max_cost = seconds(pairs[0].forward) / whole;
    const Result<PlannedModule> given = Plan(*module, options.plan);
    ASSERT_TRUE(given) << file << Render(given.error());
    const Result<Fitted> fitted = Fit(*given, options);
    ASSERT_TRUE(fitted) << file << Render(fitted.error());
    EXPECT_EQ(fitted->planned.verdict.soundness, Soundness::kSound) << file;
    EXPECT_LE(fitted->facts.cost, options.max_cost) << file;
    EXPECT_LE(static_cast<double>(TemporariesOf(fitted->planned)),
              row.most * static_cast<double>(TemporariesOf(*given)))
        << file;
    Expressions expressions;
    EXPECT_TRUE(UnrolledMeaning(*fitted->planned.module, expressions).Find() ==
                UnrolledMeaning(*module, expressions).Find())
        << file;
  }
}

}  // namespace
}  // namespace stowplan
