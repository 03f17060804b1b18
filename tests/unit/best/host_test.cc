// SPDX-License-Identifier: Apache-2.0
#include "best/host.h"

#include <gtest/gtest.h>

#include "unit/planning.h"

namespace stowplan {
namespace {

// a is written over by b; c reads both.
constexpr std::string_view kChain = R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[16] parameter(0)
  a = f32[16] negate(p)
  b = f32[16] tanh(a)
  c = f32[16] copy(b)
  d = f32[16] negate(c)
  ROOT r = (f32[16], f32[16]) tuple(c, d)
}
)";

class Hosts : public testing::Test {
 protected:
  Program program_ = AnalyzeProgram(kChain);
  ShareRules share_{program_.module, program_.analysis, RulesOf(*FindTarget("cpu"))};

  [[nodiscard]] Host::Resident Resident(std::string_view name, int64_t offset, int64_t size) const {
    const ValueId id = program_.ValueAt(name);
    return {id, program_.analysis.live.of(id), offset, size};
  }
  [[nodiscard]] Unit UnitOf(std::string_view name, int64_t size) const {
    const ValueId id = program_.ValueAt(name);
    const LiveRange& range = program_.analysis.live.of(id);
    return {.size = size, .segments = {{range.start, range.end + 1}}, .values = {id}};
  }
  std::optional<int64_t> Room(const Host& host, const Unit& unit, int64_t alignment = 64) {
    int64_t looks = 0;
    return FindRoom(host, unit, alignment, program_.analysis.live, share_, looks);
  }
};

TEST_F(Hosts, OfferTheirFreeTime) {
  // d is born when a has long been gone.
  EXPECT_EQ(Room({{}, 64, {Resident("d", 0, 64)}}, UnitOf("a", 64)), 0);
  EXPECT_EQ(Room({{}, 63, {Resident("d", 0, 63)}}, UnitOf("a", 64)), std::nullopt);
}

TEST_F(Hosts, OfferTheSmallestGapAtAnAlignedOffset) {
  const Host host = {{}, 1024, {Resident("a", 10, 70), Resident("a", 512, 384)}};
  EXPECT_EQ(Room(host, UnitOf("p", 64)), 896);
  EXPECT_EQ(Room(host, UnitOf("p", 129)), 128);
  EXPECT_EQ(Room(host, UnitOf("p", 400)), std::nullopt);
}

TEST_F(Hosts, LetAnElementwiseUserLieExactlyWhereItsOperandLay) {
  EXPECT_EQ(Room({{}, 1024, {Resident("a", 128, 64)}}, UnitOf("b", 64)), 128);
  EXPECT_EQ(Room({{}, 64, {Resident("b", 0, 64)}}, UnitOf("a", 64)), 0);
}

TEST_F(Hosts, KeepACopyApartFromItsSource) {
  EXPECT_EQ(Room({{}, 64, {Resident("b", 0, 64)}}, UnitOf("c", 64)), std::nullopt);
}

TEST_F(Hosts, AreBuffersOfTheResultAndDonatedParameters) {
  EXPECT_TRUE(IsHost({.is_maybe_live_out = true}));
  EXPECT_TRUE(IsHost({.parameter = 0, .is_aliased_parameter = true}));
  EXPECT_FALSE(IsHost({.is_maybe_live_out = true, .parameter = 0}));
  EXPECT_FALSE(IsHost({.is_tuple = true, .is_maybe_live_out = true}));
  EXPECT_FALSE(IsHost({.is_constant = true, .is_maybe_live_out = true}));
  EXPECT_FALSE(IsHost({}));
}

}  // namespace
}  // namespace stowplan
