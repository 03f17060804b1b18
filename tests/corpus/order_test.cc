// SPDX-License-Identifier: Apache-2.0
// The best order of each module of the corpus: its plan is sound and never larger, and the bound is
// below it. docs/order.md has the figures.
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/corpus_files.h"
#include "proto/rewrite.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

// What is smaller is not counted.
constexpr int64_t kLeastHeap = 1'000'000;

struct Figures {
  int64_t modules = 0;
  int64_t lower = 0;
  int64_t tight = 0;  // the load is within 1 % of the bound
  double logs = 0;    // of the ratios of temporaries
  [[nodiscard]] double mean() const { return std::exp(logs / static_cast<double>(modules)); }
};

int64_t Temporaries(const PlannedModule& planned) {
  int64_t sum = 0;
  for (const report::Allocation& allocation : planned.report->allocations.rows()) {
    if (allocation.color == 0 && allocation.is_temp()) sum += allocation.size;
  }
  return sum;
}

void AddModule(const std::string& file, Figures& figures) {
  Result<hlo::Module> module = ReadModule(file);
  ASSERT_TRUE(module) << file;
  module->buffer_assignment = {};
  PlanOptions options;
  options.target = TargetOf(file);
  options.release = VersionOf(file);
  options.policy = Policy::kBest;
  const Result<PlannedModule> given = Plan(*module, options);
  ASSERT_TRUE(given) << file << Render(given.error());
  options.scheduler = "best";
  const Result<PlannedModule> best = Plan(*module, options);
  ASSERT_TRUE(best) << file << Render(best.error());
  ASSERT_EQ(best->verdict.soundness, Soundness::kSound) << file;
  ASSERT_TRUE(best->order) << file;
  EXPECT_LE(best->order->bytes, best->order->given_bytes) << file;
  EXPECT_LE(best->order->bound, best->order->load) << file;
  if (Temporaries(*given) < kLeastHeap) return;
  ++figures.modules;
  figures.lower += best->order->bytes < best->order->given_bytes ? 1 : 0;
  figures.tight += best->order->load - best->order->bound <= best->order->load / 100 ? 1 : 0;
  figures.logs +=
      std::log(static_cast<double>(Temporaries(*best)) / static_cast<double>(Temporaries(*given)));
  // What is written is the same program in the new order.
  const Result<std::string> proto = WriteProtoWithSchedule(*best->module);
  ASSERT_TRUE(proto) << file;
  const Result<hlo::Module> again = ParseModule(Source::FromBytes("again.hlo.pb", *proto));
  ASSERT_TRUE(again) << file << Render(again.error());
  const auto theirs = again->schedule_of(again->entry);
  const auto ours = best->module->schedule_of(best->module->entry);
  EXPECT_TRUE(std::ranges::equal(theirs, ours)) << file;
}

TEST(CorpusOrder, LowersMemoryAndIsSound) {
  std::map<std::string, Figures> figures;
  for (const std::string folder : {"cpu", "cpu11", "gpu", "scale"}) {
    for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR "/" + folder, ".hlo.pb"))
      ASSERT_NO_FATAL_FAILURE(AddModule(file, figures[folder]));
  }
  const auto expect = [&](const std::string& folder, int64_t modules, int64_t lower, int64_t tight,
                          double mean) {
    const Figures& found = figures[folder];
    EXPECT_EQ(found.modules, modules) << folder;
    EXPECT_EQ(found.lower, lower) << folder;
    EXPECT_EQ(found.tight, tight) << folder;
    EXPECT_NEAR(found.mean(), mean, 0.0005) << folder;
  };
  expect("cpu", 16, 10, 16, 0.732);
  expect("cpu11", 16, 9, 16, 0.849);
  expect("gpu", 13, 6, 13, 0.975);
  expect("scale", 3, 3, 3, 0.896);
}

}  // namespace
}  // namespace stowplan
