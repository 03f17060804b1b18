// SPDX-License-Identifier: Apache-2.0
// Laws of differences, on random programs: they have no op_names and no source lines.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "property/program_generator.h"
#include "unit/diff/laws.h"
#include "unit/explain/picturing.h"

namespace stowplan::diff {
namespace {

using explain::test::SceneOf;

constexpr std::string_view kTargets[] = {"cpu", "gpu", "tpu-v5e", "tpu-v6e"};

std::string ProgramOf(uint32_t seed, std::string_view target) {
  return RandomProgram(seed, {.has_tiles = target.starts_with("tpu")});
}

TEST(RandomDiffs, WithItselfIsEmpty) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string_view target = kTargets[seed % std::size(kTargets)];
    const auto a = SceneOf(ProgramOf(seed, target), target);
    const auto b = SceneOf(ProgramOf(seed, target), target);
    const Result<Diff> diff = DiffOf(a->picture, b->picture);
    ASSERT_TRUE(diff.has_value());
    ASSERT_TRUE(diff->is_empty()) << "seed " << seed;
  }
}

TEST(RandomDiffs, AddUpAndTurnRound) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    // Of every fourth pair the machines differ, and with them sizes and memory spaces.
    const std::string_view target = kTargets[seed / 4 % std::size(kTargets)];
    const std::string_view other =
        seed % 4 == 0 ? kTargets[seed / 16 % std::size(kTargets)] : target;
    const auto a = SceneOf(ProgramOf(seed, target), target);
    const auto b = SceneOf(ProgramOf(seed + 100000, other), other, seed % 3 != 0);
    CheckLaws(a->picture, b->picture);
    if (HasFailure()) return;
  }
}

// The same program for two machines.
TEST(RandomDiffs, OnAnotherMachine) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const auto a = SceneOf(ProgramOf(seed, "cpu"), "cpu");
    const auto b = SceneOf(ProgramOf(seed, "cpu"), "gpu");
    CheckLaws(a->picture, b->picture);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stowplan::diff
