// SPDX-License-Identifier: Apache-2.0
#include "assign/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowplan {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

TEST(Rules, EveryTargetHasItsOwn) {
  struct Row {
    std::string_view target;
    Sharing sharing;
    int64_t alignment;
    int64_t preset_space;
    int64_t lending_space;
    int64_t sweep_limit;  // in MiB
  };
  const std::vector<Row> rows = {
      {"cpu", Sharing::kPlain, 64, -1, -1, kNoLimit}, {"gpu", Sharing::kGpu, 256, -1, 1, kNoLimit},
      {"tpu-v2", Sharing::kTpu, 512, -1, -1, 5099},   {"tpu-v3", Sharing::kTpu, 512, -1, -1, 13291},
      {"tpu-v4", Sharing::kTpu, 512, 3, -1, 13056},   {"tpu-v5e", Sharing::kTpu, 512, 1, -1, 13568},
      {"tpu-v5p", Sharing::kTpu, 512, 1, -1, 95467},  {"tpu-v6e", Sharing::kTpu, 512, 1, -1, 29429},
      {"tpu-v7x", Sharing::kTpu, 512, 1, -1, 94453},
  };
  ASSERT_EQ(rows.size(), Targets().size());
  for (const Row& row : rows) {
    const Rules rules = RulesOf(*FindTarget(row.target));
    EXPECT_EQ(rules.target.name, row.target);
    EXPECT_EQ(rules.sharing, row.sharing) << row.target;
    EXPECT_EQ(rules.alignment, row.alignment) << row.target;
    EXPECT_EQ(rules.preset_space, row.preset_space) << row.target;
    EXPECT_EQ(rules.lending_space, row.lending_space) << row.target;
    EXPECT_EQ(rules.sweep_limit == kNoLimit ? kNoLimit : rules.sweep_limit >> 20U, row.sweep_limit)
        << row.target;
  }
}

TEST(Rules, OlderVersionsHadOthers) {
  const Target tpu = *FindTarget("tpu-v5e");
  EXPECT_EQ(RulesOf(tpu, "libtpu-0.0.51").order, AssignOrder::kEarliestFirst);
  EXPECT_TRUE(RulesOf(tpu, "libtpu-0.0.51").Sweeps(6));
  const Rules old = RulesOf(tpu, "libtpu-0.0.32.1");
  EXPECT_EQ(old.order, AssignOrder::kLargestFirst);
  EXPECT_FALSE(old.Sweeps(0));
  EXPECT_FALSE(old.has_sparse_core);
  EXPECT_FALSE(old.thread_locals_by_number);
  EXPECT_EQ(old.sweep_limit, kNoLimit);
  EXPECT_EQ(old.preset_space, 1);
  EXPECT_EQ(old.AlignmentOf(0), 16384);

  const Target gpu = *FindTarget("gpu");
  EXPECT_EQ(RulesOf(gpu, "jaxlib-0.11.2").lending_space, 1);
  EXPECT_EQ(RulesOf(gpu, "jaxlib-0.10.2").lending_space, -1);
  EXPECT_TRUE(RulesOf(gpu, "jaxlib-0.10.2").reads_last_position);
  EXPECT_FALSE(RulesOf(gpu, "jaxlib-0.11.2").reads_last_position);
  EXPECT_FALSE(RulesOf(tpu, "libtpu-0.0.51").reads_last_position);
  EXPECT_EQ(RulesOf(*FindTarget("cpu"), "jaxlib-0.4.30").alignment, 16);
  for (const Target& target : Targets()) {
    EXPECT_EQ(RulesOf(target, "jaxlib-0.7.2").analysis.post_order,
              ComputationPostOrder::kAsPrinted);
    EXPECT_EQ(RulesOf(target).analysis.post_order, ComputationPostOrder::kLowestFirst);
  }
}

}  // namespace
}  // namespace stowplan
