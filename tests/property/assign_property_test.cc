// SPDX-License-Identifier: Apache-2.0
// Laws of planning memory, on random programs.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "hlo/print.h"
#include "property/plan_laws.h"
#include "property/program_generator.h"
#include "schedule/make_schedule.h"
#include "text/parse.h"

namespace stowplan {
namespace {

#ifndef STOWPLAN_PROGRAMS
#define STOWPLAN_PROGRAMS 2000
#endif
constexpr uint32_t kPrograms = STOWPLAN_PROGRAMS;

hlo::Module Parse(std::string_view text) {
  Result<hlo::Module> module = ParseText(Source::FromBytes("random.hlo", text));
  EXPECT_TRUE(module.has_value()) << Render(module.error()) << text;
  EXPECT_EQ(Render(hlo::Verify(*module)), "") << text;
  return *std::move(module);
}

// Seeds shared among the machines.
ProgramOptions OptionsOf(uint32_t seed, std::string_view target) {
  ProgramOptions options = {.has_tiles = target.starts_with("tpu")};
  if (seed % 10 == 0) options.instructions = 40;
  if (seed % 7 == 0) options.depth = 5;
  return options;
}

constexpr std::string_view kTargets[] = {"cpu", "gpu", "tpu-v5e", "tpu-v6e"};

TEST(RandomPrograms, EveryPlanIsSound) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    const std::string text = RandomProgram(seed, OptionsOf(seed, target));
    const hlo::Module module = Parse(text);
    ASSERT_NO_FATAL_FAILURE(CheckPlan(module, RulesOf(*FindTarget(target))))
        << "seed " << seed << "\n"
        << text;
  }
}

TEST(RandomPrograms, EveryPlanIsSoundUnderOtherRules) {
  for (uint32_t seed = 0; seed < kPrograms / 2; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    const std::string text = RandomProgram(seed + 500000, OptionsOf(seed, target));
    const hlo::Module module = Parse(text);
    Rules rules = RulesOf(*FindTarget(target));
    if (seed % 3 == 0) rules.heap_limit = 1 + static_cast<int64_t>(seed % 7) * 1000;
    if (seed % 3 == 1) rules.sweep_limit = 0;
    if (seed % 3 == 2) rules = RulesOf(*FindTarget(target), "jaxlib-0.4.30");
    ASSERT_NO_FATAL_FAILURE(CheckPlan(module, rules)) << "seed " << seed << "\n" << text;
  }
}

TEST(RandomPrograms, EveryBestPlanIsSound) {
  for (uint32_t seed = 0; seed < kPrograms / 2; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    const std::string text = RandomProgram(seed + 900000, OptionsOf(seed, target));
    const hlo::Module module = Parse(text);
    Rules rules = RulesOf(*FindTarget(target));
    if (seed % 5 == 0) rules.heap_limit = 1 + static_cast<int64_t>(seed % 7) * 1000;
    if (seed % 5 == 1) rules.sweep_limit = 0;
    if (seed % 5 == 2) rules = RulesOf(*FindTarget(target), "jaxlib-0.4.30");
    ASSERT_NO_FATAL_FAILURE(CheckBestPlan(module, rules)) << "seed " << seed << "\n" << text;
  }
}

TEST(RandomPrograms, ReportsAreConsistentAndReadBack) {
  constexpr std::string_view kVersions[] = {"jaxlib-0.11.2", "jaxlib-0.10.2", "libtpu-0.0.51",
                                            "jaxlib-0.4.30"};
  for (uint32_t seed = 0; seed < kPrograms / 4; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    const std::string text = RandomProgram(seed, OptionsOf(seed, target));
    const hlo::Module module = Parse(text);
    const Result<AnalyzedPlan> plan = MakePlan(module, RulesOf(*FindTarget(target)));
    ASSERT_TRUE(plan.has_value());
    const std::string_view version = kVersions[seed / 4 % std::size(kVersions)];
    ASSERT_NO_FATAL_FAILURE(CheckReports(module, *plan, version))
        << "seed " << seed << " as " << version << "\n"
        << text;
  }
}

TEST(RandomPrograms, PlansDependOnNothingButTheProgram) {
  for (uint32_t seed = 0; seed < kPrograms / 4; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    const Rules rules = RulesOf(*FindTarget(target));
    const hlo::Module module = Parse(RandomProgram(seed, OptionsOf(seed, target)));
    const Result<AnalyzedPlan> plan = MakePlan(module, rules);
    ASSERT_TRUE(plan.has_value());
    const std::string text = AssignmentText(module, *plan);
    ASSERT_EQ(text, AssignmentText(module, *MakePlan(module, rules))) << "seed " << seed;
    // Printed and read again, in its own way and in XLA's long one.
    for (const hlo::Dialect& dialect : {module.dialect, *hlo::FindDialect("jaxlib-0.10.2")}) {
      const hlo::Module again = Parse(hlo::ToString(module, dialect));
      const Result<AnalyzedPlan> other = MakePlan(again, rules);
      ASSERT_TRUE(other.has_value());
      ASSERT_EQ(text, AssignmentText(again, *other)) << "seed " << seed;
    }
  }
}

TEST(RandomPrograms, EverySchedulerGivesAnOrderThatCanBePlanned) {
  for (uint32_t seed = 0; seed < kPrograms / 4; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    ProgramOptions options = OptionsOf(seed, target);
    options.is_scheduled = false;
    const std::string text = RandomProgram(seed, options);
    const hlo::Module module = Parse(text);
    ASSERT_FALSE(IsScheduled(module)) << text;
    const Rules rules = RulesOf(*FindTarget(target));
    for (const Scheduler scheduler : kSchedulers) {
      const hlo::Module scheduled = WithSchedule(module, scheduler, rules.target);
      ASSERT_EQ(Render(hlo::Verify(scheduled)), "") << "seed " << seed << "\n" << text;
      ASSERT_TRUE(IsScheduled(scheduled)) << "seed " << seed;
      ASSERT_NO_FATAL_FAILURE(CheckPlan(scheduled, rules))
          << "seed " << seed << ", " << Name(scheduler) << "\n"
          << text;
    }
  }
}

}  // namespace
}  // namespace stowplan
