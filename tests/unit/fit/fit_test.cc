// SPDX-License-Identifier: Apache-2.0
// Programs with recomputation: what is repeated, what never is, and that plans are sound.
#include "session/fit.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "hlo/separate_fusions.h"
#include "hlo/verify.h"
#include "unit/fit/meaning.h"

namespace stowplan {
namespace {

hlo::Module Read(std::string_view text) {
  Result<hlo::Module> module = ParseModule(Source::FromBytes("m.hlo", text));
  EXPECT_TRUE(module) << Render(module.error());
  return *std::move(module);
}

Fitted FitText(std::string_view text, FitOptions options = {}) {
  options.plan.target = "cpu";
  options.plan.policy = Policy::kBest;
  PlannedModule planned;
  planned.name = "m";
  planned.module = std::make_shared<const hlo::Module>(Read(text));
  Result<Fitted> fitted = Fit(planned, options);
  EXPECT_TRUE(fitted) << Render(fitted.error());
  EXPECT_EQ(fitted->planned.verdict.soundness, Soundness::kSound);
  EXPECT_TRUE(hlo::Verify(*fitted->planned.module).empty());
  EXPECT_EQ(MeaningOf(*fitted->planned.module), MeaningOf(*planned.module));
  EXPECT_LE(fitted->facts.bytes, fitted->facts.given_bytes);
  EXPECT_LE(fitted->facts.bound, fitted->facts.bytes);
  return *std::move(fitted);
}

bool Has(const hlo::Module& module, std::string_view name) {
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.name(hlo::InstrId(i)) == name) return true;
  }
  return false;
}

// `a` is read at the start and at the end, and `wide` needs much in between. %s is how `a` is
// computed.
std::string Program(std::string_view how, std::string_view header = "") {
  return "HloModule m, is_scheduled=true" + std::string(header) + R"(

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY e {
  x = f32[1000]{0} parameter(0)
  zero = f32[] constant(0)
  a = )" +
         std::string(how) +
         R"(
  b = f32[100,1000]{1,0} negate(a)
  s = f32[] reduce(b, zero), dimensions={0,1}, to_apply=sum
  wide = f32[200,1000]{1,0} broadcast(s), dimensions={}
  wider = f32[200,1000]{1,0} cosine(wide)
  t = f32[] reduce(wider, zero), dimensions={0,1}, to_apply=sum
  u = f32[100,1000]{1,0} broadcast(t), dimensions={}
  v = f32[100,1000]{1,0} add(a, u)
  ROOT w = f32[] reduce(v, zero), dimensions={0,1}, to_apply=sum
}
)";
}

// The comparison can fail: another operand, another attribute.
TEST(Fit, MeaningsDiffer) {
  const uint64_t one = MeaningOf(Read(Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}")));
  EXPECT_EQ(one, MeaningOf(Read(Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}"))));
  EXPECT_NE(one, MeaningOf(Read(Program("f32[100,1000]{1,0} broadcast(zero), dimensions={}"))));
}

TEST(Fit, ComputesAgainWhatIsReadLate) {
  const Fitted fitted = FitText(Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}"));
  EXPECT_TRUE(Has(*fitted.planned.module, "a.remat"));
  ASSERT_EQ(fitted.facts.repeats.size(), 1U);
  EXPECT_EQ(fitted.facts.repeats[0].instruction, "a");
  EXPECT_EQ(fitted.facts.repeats[0].bytes, 400'000);
  EXPECT_LE(fitted.facts.bytes, fitted.facts.given_bytes - 390'000);
  EXPECT_GT(fitted.facts.cost, 0);
}

TEST(Fit, WithoutRecomputationNothingIsRepeated) {
  const Fitted fitted = FitText(Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}"),
                                {.uses_recompute = false});
  EXPECT_TRUE(fitted.facts.repeats.empty());
  EXPECT_EQ(fitted.facts.cost, 0);
}

TEST(Fit, CostIsLimited) {
  const Fitted fitted =
      FitText(Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}"), {.max_cost = 0});
  EXPECT_TRUE(fitted.facts.repeats.empty());
}

TEST(Fit, EffectsAreNotRepeated) {
  for (const std::string_view how :
       {"f32[100,1000]{1,0} custom-call(x), custom_call_target=\"unknown\"",
        "f32[100,1000]{1,0} custom-call(x), custom_call_target=\"__onednn$x\", "
        "custom_call_has_side_effect=true",
        "f32[100,1000]{1,0} rng(zero, zero), distribution=rng_uniform"}) {
    const Fitted fitted = FitText(Program(how));
    EXPECT_TRUE(fitted.facts.repeats.empty()) << how;
  }
}

TEST(Fit, BudgetTakesTheCheapestPoint) {
  const std::string program = Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}");
  const Fitted all = FitText(program);
  const Fitted enough = FitText(program, {.budget = all.facts.given_bytes});
  EXPECT_EQ(enough.facts.cost, 0);
  const Fitted exact = FitText(program, {.budget = all.facts.bytes});
  EXPECT_EQ(exact.facts.bytes, all.facts.bytes);
  const Fitted impossible = FitText(program, {.budget = all.facts.bound - 1});
  EXPECT_GT(impossible.facts.bytes, all.facts.bound - 1);
  EXPECT_FALSE(impossible.facts.witness.empty());
}

// What is proved to be impossible is refused, and the witness named, for every kind of program.
TEST(Fit, BudgetsBelowTheBoundAreRefused) {
  for (const std::string_view how :
       {"f32[100,1000]{1,0} broadcast(x), dimensions={1}",
        "f32[100,1000]{1,0} custom-call(x), custom_call_target=\"unknown\"",
        "f32[100,1000]{1,0} rng(zero, zero), distribution=rng_uniform"}) {
    const std::string program = Program(how);
    const Fitted all = FitText(program);
    EXPECT_LE(all.facts.bound, all.facts.cost_bound);
    EXPECT_LE(all.facts.cost_bound, all.facts.bytes);
    for (const int64_t less : {int64_t{1}, all.facts.bound / 2, all.facts.bound}) {
      const Fitted refused = FitText(program, {.budget = all.facts.bound - less});
      EXPECT_GT(refused.facts.bytes, all.facts.bound - less);
      EXPECT_EQ(refused.facts.bound, all.facts.bound);
      EXPECT_FALSE(refused.facts.witness.empty());
    }
  }
}

// What cannot be computed again stays while `wider` runs.
TEST(Fit, BoundCountsWhatStays) {
  const Fitted repeated = FitText(Program("f32[100,1000]{1,0} broadcast(x), dimensions={1}"));
  const Fitted kept =
      FitText(Program("f32[100,1000]{1,0} custom-call(x), custom_call_target=\"unknown\""));
  EXPECT_GE(kept.facts.bound, repeated.facts.bound + 390'000);
}

// `x` is overwritten between the first and the last reader of `a`, so `a` cannot be computed again
// from it.
TEST(Fit, OverwrittenArgumentsAreNotReadAgain) {
  const std::string_view text = R"(HloModule m, is_scheduled=true,
    input_output_alias={ {0}: (0, {}, may-alias) }

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY e {
  x = f32[1000]{0} parameter(0)
  zero = f32[] constant(0)
  a = f32[100,1000]{1,0} broadcast(x), dimensions={1}
  b = f32[100,1000]{1,0} negate(a)
  s = f32[] reduce(b, zero), dimensions={0,1}, to_apply=sum
  y = f32[1000]{0} broadcast(s), dimensions={}
  new = f32[1000]{0} add(x, y)
  z = f32[] reduce(new, zero), dimensions={0}, to_apply=sum
  wide = f32[200,1000]{1,0} broadcast(z), dimensions={}
  wider = f32[200,1000]{1,0} cosine(wide)
  t = f32[] reduce(wider, zero), dimensions={0,1}, to_apply=sum
  u = f32[100,1000]{1,0} broadcast(t), dimensions={}
  v = f32[100,1000]{1,0} add(a, u)
  w = f32[] reduce(v, zero), dimensions={0,1}, to_apply=sum
  ROOT r = (f32[1000]{0}, f32[]) tuple(new, w)
}
)";
  const Fitted fitted = FitText(text);
  EXPECT_TRUE(fitted.facts.repeats.empty());
}

// Bitcasts and parts of tuples of a repetition are repeated with it.
TEST(Fit, NamesAreRepeatedToo) {
  const std::string_view text = R"(HloModule m, is_scheduled=true

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

two {
  p = f32[1000]{0} parameter(0)
  one = f32[100,1000]{1,0} broadcast(p), dimensions={1}
  other = f32[1000]{0} negate(p)
  ROOT r = (f32[100,1000]{1,0}, f32[1000]{0}) tuple(one, other)
}

ENTRY e {
  x = f32[1000]{0} parameter(0)
  zero = f32[] constant(0)
  a = (f32[100,1000]{1,0}, f32[1000]{0}) fusion(x), kind=kLoop, calls=two
  first = f32[100,1000]{1,0} get-tuple-element(a), index=0
  flat = f32[100000]{0} bitcast(first)
  b = f32[100000]{0} negate(flat)
  s = f32[] reduce(b, zero), dimensions={0}, to_apply=sum
  wide = f32[200,1000]{1,0} broadcast(s), dimensions={}
  wider = f32[200,1000]{1,0} cosine(wide)
  t = f32[] reduce(wider, zero), dimensions={0,1}, to_apply=sum
  u = f32[100000]{0} broadcast(t), dimensions={}
  v = f32[100000]{0} add(flat, u)
  ROOT w = f32[] reduce(v, zero), dimensions={0}, to_apply=sum
}
)";
  const Fitted fitted = FitText(text);
  EXPECT_TRUE(Has(*fitted.planned.module, "a.remat"));
  EXPECT_TRUE(Has(*fitted.planned.module, "flat.remat"));
  EXPECT_LT(fitted.facts.bytes, fitted.facts.given_bytes);
}

// Two fusions that call one computation, with a fusion inside of it.
TEST(SeparateFusions, EachHasItsOwn) {
  const hlo::Module module = Read(R"(HloModule m, is_scheduled=true

inner {
  p = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(p)
}

outer {
  p = f32[4]{0} parameter(0)
  f = f32[4]{0} fusion(p), kind=kLoop, calls=inner
  ROOT r = f32[4]{0} add(f, p)
}

ENTRY e {
  x = f32[4]{0} parameter(0)
  a = f32[4]{0} fusion(x), kind=kLoop, calls=outer
  b = f32[4]{0} fusion(a), kind=kLoop, calls=outer
  ROOT c = f32[4]{0} add(a, b), control-predecessors={a}
}
)");
  hlo::Origins origins;
  const hlo::Module separate = hlo::SeparateFusions(module, origins);
  EXPECT_TRUE(hlo::Verify(separate).empty());
  EXPECT_EQ(MeaningOf(separate), MeaningOf(module));
  EXPECT_EQ(separate.computations.size(), 5U);
  EXPECT_EQ(separate.instructions.size(), module.instructions.size() + 2 + 3);
  ASSERT_EQ(origins.instructions.size(), separate.instructions.size());
  std::vector<int> callers(separate.computations.size(), 0);
  for (const hlo::CompId callee : separate.called) ++callers[callee.index];
  EXPECT_EQ(std::ranges::max(callers), 1);
  EXPECT_TRUE(Has(separate, "n.remat"));
  for (size_t i = 0; i < separate.instructions.size(); ++i) {
    EXPECT_TRUE(separate.name(hlo::InstrId(i)).starts_with(module.name(origins.instructions[i])));
  }
}

}  // namespace
}  // namespace stowplan
