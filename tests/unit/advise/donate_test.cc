// SPDX-License-Identifier: Apache-2.0
#include "advise/donate.h"

#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

Donated DonateAll(const hlo::Module& module, const std::vector<int64_t>& parameters) {
  Result<Donated> donated = Donate(module, parameters, CpuSetting());
  EXPECT_TRUE(donated.has_value()) << Render(donated.error());
  EXPECT_EQ(Render(hlo::Verify(donated->module)), "");
  return *std::move(donated);
}

TEST(Donate, NeedsNoCopyWhenAllReadersComeBefore) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  g = f32[4]{0} parameter(1)
  ROOT w = f32[4]{0} subtract(p, g)
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(donated.copies_added, 0);
  EXPECT_EQ(OrderOf(donated.module), "p g w");
  EXPECT_TRUE(donated.is_rescheduled);
  const Figures before = FiguresOfProgram(module);
  const Figures after = FiguresOfProgram(donated.module);
  EXPECT_EQ(before.bytes, 48);
  EXPECT_EQ(after.bytes, 32);
  EXPECT_EQ(after.alias, 16);
}

TEST(Donate, CopiesTheParameterThatIsReadElsewhere) {
  // `other` may run after w.
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  g = f32[4]{0} parameter(1)
  other = f32[4]{0} multiply(p, p)
  w = f32[4]{0} subtract(p, g)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(w, other)
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(donated.copies_added, 1);
  ASSERT_EQ(donated.clashes.size(), 1U);
  EXPECT_EQ(
      donated.clashes[0],
      (DonationClash{.parameter = 0, .is_of_output = false, .reader = "other", .writer = "w"}));
  EXPECT_EQ(OrderOf(donated.module), "p g copy other w t");
  FiguresOfProgram(donated.module);
}

TEST(Donate, CopiesTheOutputThatCannotBeWrittenInPlace) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4,4]{1,0} parameter(0)
  ROOT w = f32[4,4]{1,0} dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(OrderOf(donated.module), "p w copy.1");
  ASSERT_EQ(donated.clashes.size(), 1U);
  EXPECT_TRUE(donated.clashes[0].is_of_output);
  EXPECT_EQ(FiguresOfProgram(donated.module).temp, 64);
}

TEST(Donate, DropsTheCopyBeforeAnUpdateInPlace) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  x = f32[1]{0} parameter(1)
  i = s32[] parameter(2)
  c = f32[4]{0} copy(p)
  ROOT w = f32[4]{0} dynamic-update-slice(c, x, i)
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(donated.copies_removed, 1);
  EXPECT_EQ(CountCopies(donated.module), 0);
  EXPECT_EQ(OrderOf(donated.module), "p x i w");
  EXPECT_EQ(FiguresOfProgram(donated.module).alias, 16);
}

TEST(Donate, BothCopiesStayWhenTheOutputDoesNotNeedTheParameter) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  q = f32[4]{0} parameter(1)
  w = f32[4]{0} negate(q)
  other = f32[4]{0} multiply(p, w)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(w, other)
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(donated.copies_added, 2);
  EXPECT_NE(hlo::ToString(donated.module).find("control-predecessors={copy}"), std::string::npos)
      << hlo::ToString(donated.module);
}

TEST(Donate, OfALoopsStateDropsItsCopy) {
  std::string text(kLoop);
  text.replace(text.find("  init = "), 9, "  ca = f32[4] copy(a)\n  init = ");
  text.replace(text.find("tuple(zero, a, c)"), 17, "tuple(zero, ca, c)");
  const hlo::Module module = ParseProgram(text);
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(donated.copies_removed, 1);
  EXPECT_EQ(donated.copies_added, 0);
  EXPECT_EQ(CountCopies(donated.module), 0);
}

TEST(Donate, SortsInPlaceOnlyWithACopy) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT lt = pred[] compare(a, b), direction=LT
}

ENTRY e {
  p = f32[4]{0} parameter(0)
  ROOT w = f32[4]{0} sort(p), dimensions={0}, to_apply=less
}
)");
  EXPECT_EQ(OrderOf(DonateAll(module, {0}).module), "p w copy.1");
}

TEST(Donate, KeepsAnOrderThatIsNotBreadthFirst) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  c = f32[4]{0} negate(a)
  b = f32[4]{0} abs(p)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(b, c)
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_FALSE(donated.is_rescheduled);
  EXPECT_EQ(OrderOf(donated.module), "p copy a c b t");
}

TEST(Donate, OfWhatIsReturnedUnchangedNeedsNoCopy) {
  // Without donation, XLA copies the parameter into the output.
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  c = f32[4]{0} copy(p)
  w = f32[4]{0} negate(p)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(c, w)
}
)");
  const Donated donated = DonateAll(module, {0});
  EXPECT_EQ(CountCopies(donated.module), 0);
  EXPECT_EQ(FiguresOfProgram(donated.module).alias, 16);
}

TEST(Donate, CopiesAnotherParameterIntoTheOutputOnce) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  a = f32[4]{0} parameter(0)
  b = f32[4]{0} parameter(1)
  c = f32[4]{0} copy(a)
  w = f32[4]{0} add(a, b)
  ROOT t = (f32[4]{0}, f32[4]{0}) tuple(c, w)
}
)");
  // As XLA does: b is copied away, a into it.
  const Donated donated = DonateAll(module, {1});
  EXPECT_EQ(OrderOf(donated.module), "a b copy w copy.1 t");
}

TEST(Donate, LooksInsideOfBranches) {
  // A branch reads p and writes the output, and cannot do so in place.
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

yes {
  y = f32[2,2]{1,0} parameter(0)
  ROOT square = f32[2,2]{1,0} dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

no {
  n = f32[2,2]{1,0} parameter(0)
  ROOT minus = f32[2,2]{1,0} negate(n)
}

ENTRY e {
  i = s32[] parameter(0)
  p = f32[2,2]{1,0} parameter(1)
  ROOT w = f32[2,2]{1,0} conditional(i, p, p), branch_computations={yes, no}
}
)");
  const Donated donated = DonateAll(module, {1});
  EXPECT_EQ(OrderOf(donated.module), "i p w copy.1");
  FiguresOfProgram(donated.module);
}

TEST(Donate, OfWhatFitsNothingFails) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  ROOT w = f32[2]{0} slice(p), slice={[0:2]}
}
)");
  const Result<Donated> donated = Donate(module, std::vector<int64_t>{0}, CpuSetting());
  ASSERT_FALSE(donated.has_value());
  EXPECT_EQ(donated.error()[0].hint, "no output is f32[4]");
}

}  // namespace
}  // namespace stowplan::advise
