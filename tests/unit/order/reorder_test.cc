// SPDX-License-Identifier: Apache-2.0
// Modules in a better order: what moves, and what may not.
#include "order/reorder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "order/effects.h"
#include "stowplan/session.h"

namespace stowplan::order {
namespace {

hlo::Module Read(std::string_view text) {
  Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", text));
  EXPECT_TRUE(module) << Render(module.error());
  return *std::move(module);
}

Reordered ReorderText(std::string_view text, int64_t overlap_loss = 0) {
  const Rules rules = RulesOf(*FindTarget("cpu"), "");
  Result<Reordered> reordered =
      Reorder(Read(text), rules,
              {.overlap_loss = overlap_loss, .objective = Objective::kAll, .should_stop = {}});
  EXPECT_TRUE(reordered) << Render(reordered.error());
  return *std::move(reordered);
}

std::vector<std::string> Names(const hlo::Module& module, hlo::CompId computation) {
  std::vector<std::string> names;
  for (const hlo::InstrId id : module.schedule_of(computation)) names.emplace_back(module.name(id));
  return names;
}

// Two large arrays, each reduced to a small one: it is better to finish the first.
constexpr std::string_view kTwoSums = R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  one = f32[10000]{0} broadcast(x), dimensions={}
  two = f32[10000]{0} broadcast(x), dimensions={}
  first = f32[] reduce(one, zero), dimensions={0}, to_apply=sum
  second = f32[] reduce(two, zero), dimensions={0}, to_apply=sum
  ROOT r = f32[] add(first, second)
}
)";

TEST(Reorder, FinishesWhatItBegins) {
  const Reordered reordered = ReorderText(kTwoSums);
  const ReorderedComputation& entry = reordered.computations.back();
  EXPECT_GE(entry.given_peak, 80'000);
  EXPECT_LT(entry.peak, 41'000);
  EXPECT_EQ(entry.bound, entry.peak);
  const std::vector<std::string> names = Names(reordered.module, reordered.module.entry);
  ASSERT_EQ(names.size(), 7U);
  EXPECT_EQ(names.back(), "r");
  const auto place = [&](std::string_view name) { return std::ranges::find(names, name); };
  EXPECT_TRUE(place("first") < place("two") || place("second") < place("one"));
}

TEST(Reorder, KeepsAnOptimalOrder) {
  const Reordered once = ReorderText(kTwoSums);
  const Rules rules = RulesOf(*FindTarget("cpu"), "");
  const Result<Reordered> twice = Reorder(once.module, rules, {});
  ASSERT_TRUE(twice);
  EXPECT_FALSE(twice->computations.back().is_changed());
  EXPECT_EQ(Names(twice->module, twice->module.entry), Names(once.module, once.module.entry));
}

// The same inside a loop's body.
constexpr std::string_view kLoop = R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
body {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  one = f32[10000]{0} broadcast(x), dimensions={}
  two = f32[10000]{0} broadcast(x), dimensions={}
  first = f32[] reduce(one, zero), dimensions={0}, to_apply=sum
  second = f32[] reduce(two, zero), dimensions={0}, to_apply=sum
  ROOT r = f32[] add(first, second)
}
condition {
  y = f32[] parameter(0)
  big = f32[] constant(100)
  ROOT less = pred[] compare(y, big), direction=LT
}
ENTRY e {
  p = f32[] parameter(0)
  start = f32[] negate(p)
  ROOT w = f32[] while(start), condition=condition, body=body
}
)";

TEST(Reorder, GoesIntoLoops) {
  const Reordered reordered = ReorderText(kLoop);
  ASSERT_GE(reordered.computations.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(reordered.computations, [](const ReorderedComputation& c) {
    return c.given_peak >= 80'000 && c.peak < 41'000;
  }));
  // The entry is planned with what the body needs now.
  EXPECT_LT(reordered.computations.back().peak, 41'000);
}

// `old` must be read before it is overwritten, however much another order would save.
constexpr std::string_view kInPlace =
    R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }

ENTRY e {
  old = f32[10000]{0} parameter(0)
  i = s32[] parameter(1)
  one = f32[1]{0} slice(old), slice={[0:1]}
  copy = f32[10000]{0} negate(old)
  last = f32[1]{0} slice(copy), slice={[0:1]}
  new = f32[10000]{0} dynamic-update-slice(old, one, i)
  ROOT t = (f32[10000]{0}, f32[1]{0}) tuple(new, last)
}
)";

TEST(Reorder, ReadsBeforeOverwriting) {
  const Reordered reordered = ReorderText(kInPlace);
  const std::vector<std::string> names = Names(reordered.module, reordered.module.entry);
  const auto place = [&](std::string_view name) { return std::ranges::find(names, name); };
  EXPECT_LT(place("copy"), place("new"));
  EXPECT_LT(place("one"), place("new"));
  EXPECT_EQ(names.back(), "t");
}

// Two calls with effects, each fed by a large array.
constexpr std::string_view kEffects = R"(HloModule m, is_scheduled=true

ENTRY e {
  x = f32[] parameter(0)
  two = f32[10000]{0} broadcast(x), dimensions={}
  one = f32[20000]{0} broadcast(x), dimensions={}
  b = f32[] custom-call(one), custom_call_target="say", custom_call_has_side_effect=true
  a = f32[] custom-call(two), custom_call_target="say", custom_call_has_side_effect=true
  ROOT r = f32[] add(a, b)
}
)";

TEST(Reorder, KeepsTheOrderOfEffects) {
  const Reordered reordered = ReorderText(kEffects);
  EXPECT_TRUE(reordered.computations.back().is_changed());
  const std::vector<std::string> names = Names(reordered.module, reordered.module.entry);
  const auto place = [&](std::string_view name) { return std::ranges::find(names, name); };
  EXPECT_LT(place("b"), place("a"));
  EXPECT_LT(place("b"), place("two"));
}

// `work` would better come after the done: until then the transfer's own buffer is in use.
constexpr std::string_view kAsync = R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  large = f32[10000]{0} broadcast(x), dimensions={}
  start = (f32[10000]{0}, f32[10000]{0}, u32[]) copy-start(large)
  wide = f32[10000]{0} broadcast(x), dimensions={}
  work = f32[] reduce(wide, zero), dimensions={0}, to_apply=sum
  done = f32[10000]{0} copy-done(start)
  end = f32[] reduce(done, zero), dimensions={0}, to_apply=sum
  ROOT r = f32[] add(work, end)
}
)";

TEST(Reorder, KeepsOverlapUnlessToldOtherwise) {
  const Reordered kept = ReorderText(kAsync);
  EXPECT_FALSE(kept.computations.back().is_changed());
  EXPECT_GT(kept.computations.back().overlap, 40'000);
  EXPECT_EQ(kept.computations.back().lost_overlap, 0);
  const Reordered given_up = ReorderText(kAsync, 100);
  EXPECT_TRUE(given_up.computations.back().is_changed());
  EXPECT_LT(given_up.computations.back().peak, kept.computations.back().peak);
  EXPECT_GT(given_up.computations.back().lost_overlap, 0);
  // Less than all may not be enough: nothing is lost then.
  const Reordered some = ReorderText(kAsync, 10);
  EXPECT_EQ(some.computations.back().lost_overlap, 0);
}

// Sizes whose sum fits in 64 bits, but not all that a search adds up.
TEST(Reorder, SizesTooLargeToBeAdded) {
  std::string text = "HloModule m, is_scheduled=true\n\nENTRY e {\n  x = u8[] parameter(0)\n";
  for (int k = 0; k < 5; ++k) {
    text +=
        "  b" + std::to_string(k) + " = u8[1152921504606846976]{0} broadcast(x), dimensions={}\n";
  }
  text += "  ROOT t = (";
  for (int k = 0; k < 5; ++k) text += std::string(k > 0 ? ", " : "") + "u8[1152921504606846976]{0}";
  text += ") tuple(";
  for (int k = 0; k < 5; ++k) text += (k > 0 ? ", b" : "b") + std::to_string(k);
  text += ")\n}\n";
  const Rules rules = RulesOf(*FindTarget("cpu"), "");
  const Result<Reordered> reordered = Reorder(Read(text), rules, {});
  ASSERT_FALSE(reordered);
  EXPECT_NE(Render(reordered.error()).find("too large to be added up"), std::string::npos)
      << Render(reordered.error());
}

// All users of one value, and an instruction with many operands.
TEST(Reorder, OneValueWithManyUsers) {
  constexpr int kUsers = 5'000;
  std::string text =
      "HloModule m, is_scheduled=true\n\nENTRY e {\n  x = f32[] parameter(0)\n"
      "  w = f32[1000]{0} broadcast(x), dimensions={}\n";
  for (int k = 0; k < kUsers; ++k)
    text += "  u" + std::to_string(k) + " = f32[1000]{0} negate(w)\n";
  text += "  ROOT c = f32[" + std::to_string(kUsers * 1000) + "]{0} concatenate(";
  for (int k = 0; k < kUsers; ++k) text += (k > 0 ? ", u" : "u") + std::to_string(k);
  text += "), dimensions={0}\n}\n";
  const Reordered reordered = ReorderText(text);
  EXPECT_LE(reordered.computations.back().bound, reordered.computations.back().peak);
  EXPECT_GT(reordered.computations.back().bound, 0);
}

// The branch has little in use, so that its order is left alone; the bound of the entry is exact
// all the same.
constexpr std::string_view kLowBranch = R"(HloModule m, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
low {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  one = f32[100]{0} broadcast(x), dimensions={}
  ROOT first = f32[] reduce(one, zero), dimensions={0}, to_apply=sum
}
ENTRY e {
  x = f32[] parameter(0)
  p = pred[] parameter(1)
  zero = f32[] constant(0)
  small = f32[] conditional(p, x, x), true_computation=low, false_computation=low2
  wide = f32[10000]{0} broadcast(small), dimensions={}
  ROOT r = f32[] reduce(wide, zero), dimensions={0}, to_apply=sum
}
)";

TEST(Reorder, BoundKnowsWhatLowComputationsNeed) {
  std::string text(kLowBranch);
  const size_t at = text.find("low {");
  const size_t end = text.find("ENTRY");
  text.insert(end, "low2 " + text.substr(at + 4, end - at - 4));
  const Reordered reordered = ReorderText(text);
  const ReorderedComputation& entry = reordered.computations.back();
  EXPECT_EQ(entry.bound, entry.peak);
  // They keep their orders: nothing depends on these.
  EXPECT_EQ(std::ranges::count_if(reordered.computations, &ReorderedComputation::is_changed), 0);
}

TEST(Reorder, OthersMustKeepTheSame) {
  EXPECT_TRUE(KeepsWhatIsKept(Read(kTwoSums), ReorderText(kTwoSums).module));
  EXPECT_TRUE(KeepsWhatIsKept(Read(kAsync), ReorderText(kAsync).module));
  EXPECT_FALSE(KeepsWhatIsKept(Read(kAsync), ReorderText(kAsync, 100).module));
  // The two effects change places, and so do what they read.
  const hlo::Module given = Read(kEffects);
  hlo::Module swapped = given;
  const uint32_t begin = swapped.computations[swapped.entry].schedule.begin;
  for (const auto& [a, b] : {std::pair(1U, 2U), {3U, 4U}})
    std::swap(swapped.instruction_pool[begin + a], swapped.instruction_pool[begin + b]);
  EXPECT_FALSE(KeepsWhatIsKept(given, swapped));
}

TEST(Effects, OfCallees) {
  const hlo::Module module = Read(kEffects);
  const std::vector<uint8_t> effects = FindEffects(module);
  EXPECT_EQ(std::ranges::count(effects, 1), 2);
}

}  // namespace
}  // namespace stowplan::order
