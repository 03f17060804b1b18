// SPDX-License-Identifier: Apache-2.0
// Advice for random programs: what is donated stays a sound program, and what is said to be saved
// is what a plan from the beginning shows.
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "advise/advice.h"
#include "hlo/verify.h"
#include "property/program_generator.h"
#include "text/parse.h"

namespace stowplan::advise {
namespace {

constexpr uint32_t kPrograms = 600;
constexpr std::string_view kTargets[] = {"cpu", "gpu", "tpu-v5e"};

Setting SettingOf(std::string_view target) {
  return {RulesOf(*FindTarget(target)), *report::FindReportStyle("jaxlib-0.11.2")};
}

hlo::Module MakeModule(uint32_t seed, std::string_view target) {
  ProgramOptions options = {.has_tiles = target.starts_with("tpu")};
  if (seed % 10 == 0) options.instructions = 40;
  Result<hlo::Module> module =
      ParseText(Source::FromBytes("random.hlo", RandomProgram(seed, options)));
  EXPECT_TRUE(module.has_value());
  return *std::move(module);
}

// Whether the program has a sound plan; random ones often lack a copy.
bool IsSound(const hlo::Module& module, const Setting& setting) {
  const Result<Plan> plan = PlanOf(module, setting, std::nullopt);
  return plan && WhyUnsound(module, plan->tried.made, setting).empty();
}

// JAX donates for nothing else, even if padding makes sizes equal.
bool HasAsManyElements(const hlo::Module& module, const DonatedPair& pair) {
  const auto count = [&](hlo::ShapeId id) {
    int64_t product = 1;
    for (const int64_t size : module.shapes.dims(id)) product *= size;
    return product;
  };
  const hlo::ShapeId result = module.instructions[module.computations[module.entry].root].shape;
  const hlo::InstrId parameter =
      module.parameters_of(module.entry)[static_cast<size_t>(pair.parameter)];
  return count(module.instructions[parameter].shape) ==
         count(pair.output < 0 ? result
                               : module.shapes.elements(result)[static_cast<size_t>(pair.output)]);
}

TEST(AdviseProperty, DonationKeepsProgramsSound) {
  int64_t donated_programs = 0;
  int64_t unsound = 0;
  int64_t without = 0;  // programs without a sound plan of their own
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const Setting setting = SettingOf(kTargets[seed % std::size(kTargets)]);
    const hlo::Module module = MakeModule(seed, kTargets[seed % std::size(kTargets)]);
    if (!IsSound(module, setting)) {
      ++without;
      continue;
    }
    std::vector<int64_t> parameters(module.parameters_of(module.entry).size());
    std::iota(parameters.begin(), parameters.end(), 0);
    const Result<Donated> donated = Donate(module, parameters, setting);
    if (!donated) continue;
    ++donated_programs;
    ASSERT_EQ(Render(hlo::Verify(donated->module)), "") << seed;
    for (const DonatedPair& pair : donated->pairing.pairs)
      EXPECT_TRUE(HasAsManyElements(module, pair)) << seed;
    if (!IsSound(donated->module, setting)) {
      ++unsound;
      ADD_FAILURE() << "unsound: seed " << seed;
    }
  }
  EXPECT_EQ(donated_programs, 85);
  EXPECT_EQ(unsound, 0);
  EXPECT_EQ(without, 382);
}

TEST(AdviseProperty, SavingsAreThoseOfAFreshPlan) {
  int64_t pieces = 0;
  for (uint32_t seed = 0; seed < kPrograms; seed += 3) {
    const Setting setting = SettingOf(kTargets[seed % std::size(kTargets)]);
    const hlo::Module module = MakeModule(seed, kTargets[seed % std::size(kTargets)]);
    AdviseOptions options;
    options.candidates = 6;
    const Result<AdviceReport> report = Advise(module, setting, options);
    if (!report) continue;
    for (const Advice& advice : report->advice) {
      if (advice.edits[0].kind == EditKind::kPack) continue;
      ++pieces;
      const Result<hlo::Module> changed = Apply(module, advice.edits, setting);
      ASSERT_TRUE(changed.has_value()) << seed;
      ASSERT_EQ(Render(hlo::Verify(*changed)), "") << seed;
      const Result<Plan> plan = PlanOf(*changed, setting, std::nullopt);
      ASSERT_TRUE(plan.has_value()) << seed;
      EXPECT_EQ(plan->figures, advice.after) << seed << ": " << advice.what;
      EXPECT_EQ(WhyUnsound(*changed, plan->tried.made, setting), "") << seed << ": " << advice.what;
    }
  }
  EXPECT_EQ(pieces, 49);
}

}  // namespace
}  // namespace stowplan::advise
