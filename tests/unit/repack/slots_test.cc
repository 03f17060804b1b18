// SPDX-License-Identifier: Apache-2.0
// Which slots a thunk reads, where the thunk alone does not say it.
#include "repack/slots.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowplan/session.h"

namespace stowplan::repack {
namespace {

using executable::Access;
using executable::Slice;
using testing::ElementsAre;

// Elementwise instructions work in place if nobody needs their operand any more.
constexpr std::string_view kInner = R"(
%inner (p: f32[256]) -> f32[256] {
  %p = f32[256]{0} parameter(0)
  %made = f32[256]{0} negate(%p)
  ROOT %last = f32[256]{0} cosine(%made)
}
)";
constexpr std::string_view kDies = R"(
ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0)
  %given = f32[256]{0} negate(%x)
  %called = f32[256]{0} call(%given), to_apply=%inner
  ROOT %end = f32[256]{0} reverse(%called), dimensions={0}
}
)";
constexpr std::string_view kStays = R"(
ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0)
  %given = f32[256]{0} negate(%x)
  %called = f32[256]{0} call(%given), to_apply=%inner
  %other = f32[256]{0} reverse(%called), dimensions={0}
  ROOT %end = f32[256]{0} add(%given, %other)
}
)";
constexpr std::string_view kSmall = R"(
%inner (p: f32[]) -> f32[256] {
  %p = f32[] parameter(0)
  %spread = f32[256]{0} broadcast(%p), dimensions={}
  %made = f32[256]{0} reverse(%spread), dimensions={0}
  ROOT %last = f32[256]{0} reverse(%made), dimensions={0}
}

ENTRY %main (x: f32[]) -> f32[256] {
  %x = f32[] parameter(0)
  %given = f32[] negate(%x)
  %called = f32[256]{0} call(%given), to_apply=%inner
  ROOT %end = f32[256]{0} reverse(%called), dimensions={0}
}
)";
constexpr std::string_view kOfATuple = R"(
%inner (t: (f32[256], f32[256])) -> f32[256] {
  %t = (f32[256]{0}, f32[256]{0}) parameter(0)
  %first = f32[256]{0} get-tuple-element(%t), index=0
  %second = f32[256]{0} get-tuple-element(%t), index=1
  ROOT %sum = f32[256]{0} add(%first, %second)
}

ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0)
  %given = f32[256]{0} negate(%x)
  %table = (f32[256]{0}, f32[256]{0}) tuple(%given, %x)
  %called = f32[256]{0} call(%table), to_apply=%inner
  ROOT %end = f32[256]{0} reverse(%called), dimensions={0}
}
)";

PlannedModule Planned(const std::string& computations) {
  const auto inputs = OpenBytes("<text>", "HloModule m, is_scheduled=true\n" + computations);
  const PlanOptions options = {.target = "cpu"};
  const auto given = LoadOne(*inputs, options);
  EXPECT_TRUE(given) << Render(given.error());
  auto made = Plan(*given, options);
  EXPECT_TRUE(made) << Render(made.error());
  return *std::move(made);
}

Slice PlaceIn(const PlannedModule& planned, std::string_view instruction) {
  for (const report::Value& value : planned.report->values.rows()) {
    if (value.instruction == instruction)
      return {planned.report->allocations[value.allocation].number, value.offset, value.size};
  }
  ADD_FAILURE() << instruction << " has no place";
  return {};
}

struct Launch {
  std::string_view name;
  std::vector<executable::Slot> slots;
};

std::vector<bool> Reads(const PlannedModule& planned, const std::vector<Launch>& launches) {
  executable::Program program;
  for (const Launch& launch : launches) {
    program.thunks.push_back({.name = launch.name,
                              .slots = {.begin = static_cast<uint32_t>(program.slots.size()),
                                        .count = static_cast<uint32_t>(launch.slots.size())}});
    program.slots.insert(program.slots.end(), launch.slots.begin(), launch.slots.end());
  }
  return SlotResolver(planned).FindReads(program);
}

TEST(SlotResolver, WhatIsMadeInsideIsNotRead) {
  const PlannedModule planned = Planned(std::string(kInner) + std::string(kStays));
  const Slice made = PlaceIn(planned, "made");
  ASSERT_NE(made, PlaceIn(planned, "given"));
  EXPECT_THAT(Reads(planned, {{"called", {{made, Access::kRead}}}}), ElementsAre(false));
  EXPECT_THAT(Reads(planned, {{"called", {{PlaceIn(planned, "given"), Access::kRead}}}}),
              ElementsAre(true));
}

TEST(SlotResolver, WhatIsMadeInsideIsReadWhereAnOperandLies) {
  const PlannedModule planned = Planned(std::string(kInner) + std::string(kDies));
  const Slice made = PlaceIn(planned, "made");
  ASSERT_EQ(made, PlaceIn(planned, "given"));
  EXPECT_THAT(Reads(planned, {{"called", {{made, Access::kRead}}}}), ElementsAre(true));
}

// A small operand lies where something larger is made after it was read: the rest of that place
// holds nothing.
TEST(SlotResolver, AnOperandWithASlotOfItsOwnIsReadThere) {
  const PlannedModule planned = Planned(std::string(kSmall));
  const Slice given = PlaceIn(planned, "given");
  const Slice made = PlaceIn(planned, "made");
  ASSERT_EQ(given.offset, made.offset);
  ASSERT_LT(given.size, made.size);
  EXPECT_THAT(Reads(planned, {{"called", {{made, Access::kRead}}}}), ElementsAre(true));
  EXPECT_THAT(Reads(planned, {{"called", {{made, Access::kRead}, {given, Access::kRead}}}}),
              ElementsAre(false, true));
  EXPECT_THAT(Reads(planned, {{"called", {{made, Access::kRead}, {given, Access::kWrite}}}}),
              ElementsAre(true, false));
}

TEST(SlotResolver, ATableThatNoThunkFillsIsNotRead) {
  const PlannedModule planned = Planned(std::string(kOfATuple));
  const Launch called = {"called",
                         {{PlaceIn(planned, "table"), Access::kMaybeUpdate},
                          {PlaceIn(planned, "given"), Access::kMaybeUpdate}}};
  EXPECT_THAT(Reads(planned, {called}), ElementsAre(false, true));
  const Launch fills = {"table", {{PlaceIn(planned, "table"), Access::kWrite}}};
  EXPECT_THAT(Reads(planned, {fills, called}), ElementsAre(false, true, true));
}

}  // namespace
}  // namespace stowplan::repack
