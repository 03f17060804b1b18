// SPDX-License-Identifier: Apache-2.0
// Donation and recomputation together, and advice that comes from the search for less memory.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "advise/advice.h"
#include "advise/fit_donate.h"
#include "hlo/verify.h"
#include "stowplan/session.h"

namespace stowplan::advise {
namespace {

// `a` is read at the start and at the end, and much memory is needed in between. The new weights
// are written early, and can take the memory of `params`. No other advice has a product computed
// again.
constexpr std::string_view kStep = R"(HloModule m, is_scheduled=true

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY e {
  params = f32[100,1000]{1,0} parameter(0), metadata={op_name="params"}
  x = f32[1,1000]{1,0} parameter(1), metadata={op_name="x"}
  y = f32[100,1]{1,0} parameter(2), metadata={op_name="y"}
  zero = f32[] constant(0)
  a = f32[100,1000]{1,0} dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/layer_2/dot_general" source_file="f.py" source_line=7}
  new = f32[100,1000]{1,0} subtract(params, a)
  s = f32[] reduce(new, zero), dimensions={0,1}, to_apply=sum
  wide = f32[200,1000]{1,0} broadcast(s), dimensions={}
  wider = f32[200,1000]{1,0} cosine(wide)
  t = f32[] reduce(wider, zero), dimensions={0,1}, to_apply=sum
  u = f32[100,1000]{1,0} broadcast(t), dimensions={}
  v = f32[100,1000]{1,0} add(a, u)
  loss = f32[] reduce(v, zero), dimensions={0,1}, to_apply=sum
  ROOT out = (f32[100,1000]{1,0}, f32[]) tuple(new, loss)
}
)";

// The result is written last, in memory that holds `a` before. Donating `params` for it helps only
// if `a` is computed again, too.
constexpr std::string_view kLate = R"(HloModule m, is_scheduled=true

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY e {
  params = f32[100,1000]{1,0} parameter(0), metadata={op_name="params"}
  x = f32[1000]{0} parameter(1), metadata={op_name="x"}
  zero = f32[] constant(0)
  a = f32[100,1000]{1,0} broadcast(x), dimensions={1}
  b = f32[100,1000]{1,0} negate(a)
  s = f32[] reduce(b, zero), dimensions={0,1}, to_apply=sum
  wide = f32[200,1000]{1,0} broadcast(s), dimensions={}
  wider = f32[200,1000]{1,0} cosine(wide)
  t = f32[] reduce(wider, zero), dimensions={0,1}, to_apply=sum
  u = f32[100,1000]{1,0} broadcast(t), dimensions={}
  v = f32[100,1000]{1,0} add(a, u)
  ROOT w = f32[100,1000]{1,0} subtract(params, v)
}
)";

PlannedModule Planned(std::string_view text) {
  Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", text));
  EXPECT_TRUE(module) << Render(module.error());
  PlanOptions options;
  options.target = "cpu";
  options.release = "jaxlib-0.10.2";
  Result<PlannedModule> planned = stowplan::Plan(*std::move(module), options);
  EXPECT_TRUE(planned) << Render(planned.error());
  return *std::move(planned);
}

Fitted FitStep(FitOptions options, std::string_view text = kStep) {
  options.plan.target = "cpu";
  options.plan.release = "jaxlib-0.10.2";
  Result<Fitted> fitted = FitWithDonations(Planned(text), options);
  EXPECT_TRUE(fitted) << Render(fitted.error());
  EXPECT_EQ(fitted->planned.verdict.soundness, Soundness::kSound);
  EXPECT_TRUE(hlo::Verify(*fitted->planned.module).empty());
  EXPECT_LE(fitted->facts.bytes, fitted->facts.given_bytes);
  return *std::move(fitted);
}

TEST(FitWithDonations, DonatesOnlyIfAsked) {
  const Fitted fitted = FitStep({});
  EXPECT_TRUE(fitted.facts.donated.empty());
  EXPECT_TRUE(fitted.planned.module->header.aliases.empty());
}

TEST(FitWithDonations, DonatesFirstAndComputesAgainThen) {
  FitOptions options;
  options.uses_donation = true;
  const Fitted fitted = FitStep(options);
  ASSERT_EQ(fitted.facts.donated.size(), 1);
  EXPECT_EQ(fitted.facts.donated[0].name, "params");
  EXPECT_EQ(fitted.facts.donated[0].parameters, std::vector<int64_t>{0});
  EXPECT_EQ(fitted.facts.donation_spelling, "jax.jit(f, donate_argnames=('params',))");
  EXPECT_EQ(fitted.facts.given_bytes - fitted.facts.donated_bytes, 400'000);
  EXPECT_LT(fitted.facts.bytes, fitted.facts.donated_bytes);
  EXPECT_EQ(fitted.facts.repeats.size(), 1);
  EXPECT_EQ(fitted.planned.module->header.aliases.size(), 1);
}

TEST(FitWithDonations, HelpsOnlyTogether) {
  FitOptions options;
  options.uses_donation = true;
  const Fitted fitted = FitStep(options, kLate);
  ASSERT_EQ(fitted.facts.donated.size(), 1);
  EXPECT_EQ(fitted.facts.donated_bytes, fitted.facts.given_bytes);
  EXPECT_LT(fitted.facts.bytes, fitted.facts.given_bytes - 350'000);
  // Without recomputation it does not help, so nothing is donated.
  options.uses_recompute = false;
  EXPECT_TRUE(FitStep(options, kLate).facts.donated.empty());
}

TEST(FitWithDonations, NotForABudgetThatIsMetAnyway) {
  FitOptions options;
  options.uses_donation = true;
  options.budget = int64_t{1} << 40;
  EXPECT_TRUE(FitStep(options).facts.donated.empty());
}

AdviceReport AdviceOf(std::string_view text) {
  PlanOptions options;
  options.target = "cpu";
  options.release = "jaxlib-0.10.2";
  Result<AdviceReport> report = AdvisePlanned(Planned(text), options, {});
  EXPECT_TRUE(report) << Render(report.error());
  return *std::move(report);
}

TEST(FitAdvice, NamesLinesAndLayers) {
  const AdviceReport report = AdviceOf(kStep);
  const auto found = std::ranges::find_if(
      report.advice, [](const Advice& advice) { return advice.edits[0].kind == EditKind::kFit; });
  ASSERT_NE(found, report.advice.end());
  EXPECT_GT(found->saved, 350'000);
  EXPECT_TRUE(found->what.starts_with(
      "compute again instead of keeping: `dot_general` of f.py:7 in layer 2, for "))
      << found->what;
  EXPECT_EQ(found->how, "jax.checkpoint around what computes these lines");
  ASSERT_EQ(found->notes.size(), 2);  // the line, and what XLA does on CPUs
  EXPECT_NE(found->notes[0].find("frees 390.6KiB"), std::string::npos) << found->notes[0];
}

TEST(FitAdvice, IsCombinedWithDonation) {
  const AdviceReport report = AdviceOf(kStep);
  ASSERT_TRUE(report.together.has_value());
  EXPECT_GT(report.together->saved, 750'000);
  for (const Advice& advice : report.advice) EXPECT_GE(report.together->saved, advice.saved);
  EXPECT_EQ(report.together->edits.back().kind, EditKind::kFit);
  EXPECT_TRUE(report.together->how.starts_with("jax.jit(f, donate_argnames=('params',))"))
      << report.together->how;
  EXPECT_NE(report.together->how.find("jax.checkpoint"), std::string::npos);
}

// Nothing lives long here, so there is nothing to say.
TEST(FitAdvice, SaysNothingWhereNothingIsSaved) {
  const AdviceReport report = AdviceOf(R"(HloModule m, is_scheduled=true

ENTRY e {
  x = f32[1000]{0} parameter(0)
  a = f32[1000]{0} negate(x)
  ROOT b = f32[1000]{0} cosine(a)
}
)");
  for (const Advice& advice : report.advice) EXPECT_NE(advice.edits[0].kind, EditKind::kFit);
}

}  // namespace
}  // namespace stowplan::advise
