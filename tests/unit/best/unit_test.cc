// SPDX-License-Identifier: Apache-2.0
#include "best/unit.h"

#include <gtest/gtest.h>

#include "assign/sizes.h"
#include "best/pack_units.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

Unit MakeUnit(int64_t size, std::vector<Segment> segments) {
  return {.size = size, .segments = std::move(segments), .values = {}};
}

std::vector<const Unit*> PointersTo(const std::vector<Unit>& units) {
  std::vector<const Unit*> pointers;
  for (const Unit& unit : units) pointers.push_back(&unit);
  return pointers;
}

TEST(Units, ValuesOfALoopAreOne) {
  const Program program = AnalyzeProgram(kLoop);
  const Rules rules = RulesOf(*FindTarget("cpu"));
  const Result<BufferSizes> sizes = MeasureBuffers(program.module, program.analysis, rules);
  ASSERT_TRUE(sizes.has_value());
  ShareRules share(program.module, program.analysis, rules);
  // The counter: what the loop is given, what it has inside, and what it leaves.
  std::vector<ValueId> counter;
  const BufferId buffer = program.analysis.buffers.of(program.ValueAt("w", {0}));
  for (const ValueId id : program.analysis.buffers.values_of(buffer)) counter.push_back(id);
  ASSERT_GE(counter.size(), 3U);
  const Units found = FindUnits(program.module, program.analysis, counter, sizes->sizes, share);
  ASSERT_EQ(found.units.size(), 1U);
  EXPECT_EQ(found.units[0].size, 4);
  EXPECT_EQ(found.units[0].values.size(), counter.size());
  for (const ValueId id : counter) {
    const LiveRange& range = program.analysis.live.of(id);
    EXPECT_LE(found.units[0].hull().start, range.start);
    EXPECT_GT(found.units[0].hull().end, range.end);
  }
}

TEST(UnitBound, CountsWhatIsAliveAtOnce) {
  const std::vector<Unit> units = {MakeUnit(3, {{0, 2}, {5, 7}}), MakeUnit(4, {{2, 5}}),
                                   MakeUnit(2, {{6, 9}})};
  const UnitBound bound = FindUnitBound(PointersTo(units), 1);
  EXPECT_EQ(bound.bytes, 5);
  EXPECT_EQ(bound.time, 6);
}

TEST(UnitBound, RoundsUpAllButTheHighest) {
  const std::vector<Unit> units = {MakeUnit(10, {{0, 2}}), MakeUnit(60, {{1, 2}}),
                                   MakeUnit(64, {{1, 3}})};
  // 64 + 64 and the ten bytes on top.
  EXPECT_EQ(FindUnitBound(PointersTo(units), 64).bytes, 138);
}

TEST(PackUnits, PutsWhatIsRoundedUpMostOnTop) {
  const std::vector<Unit> units = {MakeUnit(10, {{0, 2}}), MakeUnit(60, {{1, 2}}),
                                   MakeUnit(64, {{1, 3}})};
  const std::vector<const Unit*> pointers = PointersTo(units);
  const std::optional<UnitPlan> plan =
      PackUnits(pointers, 64, FindUnitBound(pointers, 64), std::nullopt, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->height, 138);
  EXPECT_EQ(plan->offsets[0], 128);
}

TEST(PackUnits, UsesTheTimeBetweenSegments) {
  const std::vector<Unit> units = {MakeUnit(8, {{0, 2}, {5, 7}}), MakeUnit(8, {{2, 5}})};
  const std::vector<const Unit*> pointers = PointersTo(units);
  const std::optional<UnitPlan> plan =
      PackUnits(pointers, 1, FindUnitBound(pointers, 1), std::nullopt, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->height, 8);
}

}  // namespace
}  // namespace stowplan
