// SPDX-License-Identifier: Apache-2.0
#include "advise/advice.h"

#include <algorithm>

#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

AdviceReport AdviceFor(const hlo::Module& module, const AdviseOptions& options = {}) {
  const Result<AdviceReport> report = Advise(module, CpuSetting(), options);
  EXPECT_TRUE(report.has_value()) << Render(report.error());
  for (const Advice& advice : report->advice) {
    if (advice.edits[0].kind == EditKind::kPack) continue;
    const Result<hlo::Module> changed = Apply(module, advice.edits, CpuSetting());
    EXPECT_TRUE(changed.has_value());
    EXPECT_EQ(FiguresOfProgram(*changed), advice.after) << advice.what;
  }
  EXPECT_TRUE(std::ranges::is_sorted(report->advice, std::ranges::greater(), &Advice::saved));
  return *report;
}

const Advice* FindAdvice(const AdviceReport& report, EditKind kind) {
  for (const Advice& advice : report.advice) {
    if (advice.edits[0].kind == kind) return &advice;
  }
  return nullptr;
}

// `big` is made before the fullest moment, that of `other`, which does not need it.
constexpr std::string_view kOrder = R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  big = f32[1024]{0} broadcast(p2), dimensions={}
  other = f32[4096]{0} broadcast(p3), dimensions={}
  sum = f32[] reduce(other, p2), dimensions={0}, to_apply=add
  use = f32[1024]{0} broadcast(sum), dimensions={}
  all = f32[1024]{0} add(use, big)
  ROOT w = f32[] reduce(all, p2), dimensions={0}, to_apply=add
}
)";

std::string Order() {
  std::string text(kOrder);
  text.replace(text.find("  p = f32[4]{0} parameter(0)\n"), 29,
               "  p2 = f32[] parameter(0)\n  p3 = f32[] parameter(1)\n");
  text.insert(text.find("ENTRY"),
              "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
              "  ROOT s = f32[] add(a, b)\n}\n\n");
  return text;
}

TEST(Advise, MovesALargeDefinitionLater) {
  const hlo::Module module = ParseProgram(Order());
  const AdviceReport report = AdviceFor(module);
  const Advice* later = FindAdvice(report, EditKind::kMoveLater);
  ASSERT_NE(later, nullptr);
  EXPECT_EQ(later->edits[0].instruction, "big");
  EXPECT_EQ(later->edits[0].anchor, "all");
  EXPECT_EQ(later->saved_peak, 4096);  // all of `big`
}

TEST(Advise, LeavesOutWhatSavesTooLittle) {
  // If `other` is no larger than `use`, moving `big` lowers the peak by 4 bytes of 8204.
  std::string text = Order();
  text.replace(text.find("other = f32[4096]"), 17, "other = f32[1024]");
  const hlo::Module module = ParseProgram(text);
  const AdviceReport all = AdviceFor(module);
  ASSERT_NE(FindAdvice(all, EditKind::kMoveLater), nullptr);
  EXPECT_EQ(FindAdvice(all, EditKind::kMoveLater)->saved_peak, 4);
  EXPECT_EQ(FindAdvice(AdviceFor(module, {.least = 0.001}), EditKind::kMoveLater), nullptr);
  EXPECT_NE(FindAdvice(AdviceFor(module, {.least = 0.0004}), EditKind::kMoveLater), nullptr);
}

TEST(Advise, NamesTheArgumentAndItsOutput) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1024]{0} parameter(0), metadata={op_name="params[\'w\']"}
  g = f32[1024]{0} parameter(1), metadata={op_name="grads"}
  ROOT w = f32[1024]{0} subtract(p, g)
}
)");
  const AdviceReport report = AdviceFor(module);
  ASSERT_EQ(report.advice.size(), 2U);
  EXPECT_EQ(report.advice[0].saved, 4096);
  EXPECT_EQ(report.advice[0].what, "donate params");
  EXPECT_EQ(report.advice[0].how,
            "jax.jit(f, donate_argnames=('params',))  or  donate_argnums=(0,)");
  EXPECT_EQ(report.advice[0].notes[0], "params['w'] becomes the result");
  EXPECT_EQ(report.advice[1].what, "donate grads");
  // Both want the one result: together they save no more.
  EXPECT_FALSE(report.together.has_value());
}

TEST(Advise, DropsACopyThatTheOrderDoesNotNeed) {
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

add {
  s = f32[] parameter(0)
  t = f32[] parameter(1)
  ROOT st = f32[] add(s, t)
}

ENTRY e {
  p = f32[1024]{0} parameter(0)
  x = f32[1]{0} parameter(1)
  i = s32[] parameter(2)
  z = f32[] parameter(3)
  a = f32[1024]{0} negate(p)
  c = f32[1024]{0} copy(a)
  b = f32[] reduce(a, z), dimensions={0}, to_apply=add
  u = f32[1024]{0} dynamic-update-slice(c, x, i)
  ROOT w = (f32[1024]{0}, f32[]) tuple(u, b)
}
)");
  const AdviceReport report = AdviceFor(module);
  const Advice* drop = FindAdvice(report, EditKind::kDropCopy);
  ASSERT_NE(drop, nullptr);
  EXPECT_EQ(drop->edits[0].instruction, "c");
  EXPECT_EQ(drop->saved, 4096);
}

TEST(Advise, KeepsACopyThatIsNeeded) {
  // The old bytes are read behind the update.
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[1024]{0} parameter(0)
  x = f32[1]{0} parameter(1)
  i = s32[] parameter(2)
  a = f32[1024]{0} negate(p)
  c = f32[1024]{0} copy(a)
  u = f32[1024]{0} dynamic-update-slice(c, x, i)
  ROOT w = f32[1024]{0} add(u, a)
}
)");
  const AdviceReport report = AdviceFor(module);
  EXPECT_EQ(FindAdvice(report, EditKind::kDropCopy), nullptr);
  EXPECT_EQ(report.unsound, 1);
}

TEST(Advise, RematerializesWhatIsCheap) {
  // `mask` is read at the begin and at the end, over a large value between.
  const hlo::Module module = ParseProgram(R"(HloModule m, is_scheduled=true

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

less {
  c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT lt = pred[] compare(c, d), direction=LT
}

ENTRY e {
  z = f32[] parameter(0)
  mask = f32[1024]{0} broadcast(z), dimensions={}
  first = f32[] reduce(mask, z), dimensions={0}, to_apply=add
  large = f32[4096]{0} broadcast(first), dimensions={}
  again = f32[4096]{0} sort(large), dimensions={0}, to_apply=less
  second = f32[] reduce(again, z), dimensions={0}, to_apply=add
  other = f32[1024]{0} broadcast(second), dimensions={}
  both = f32[1024]{0} add(other, mask)
  ROOT w = f32[] reduce(both, z), dimensions={0}, to_apply=add
}
)");
  const AdviceReport report = AdviceFor(module);
  const Advice* again = FindAdvice(report, EditKind::kRematerialize);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->edits[0].instruction, "mask");
  EXPECT_EQ(again->edits[0].anchor, "both");
  EXPECT_EQ(again->saved, 4096);
}

TEST(Advise, StopsWhenTold) {
  AdviseOptions options;
  options.should_stop = [] { return true; };
  int64_t calls = 0;
  options.progress = [&](int64_t done, int64_t total) {
    ++calls;
    EXPECT_LT(done, total);
  };
  const AdviceReport report = AdviceFor(ParseProgram(Order()), options);
  EXPECT_EQ(report.tried, 0);
  EXPECT_EQ(report.untried, calls);
  EXPECT_EQ(calls, 4);
  EXPECT_TRUE(report.advice.empty());
}

}  // namespace
}  // namespace stowplan::advise
