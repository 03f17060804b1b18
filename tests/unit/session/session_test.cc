// SPDX-License-Identifier: Apache-2.0
// From inputs to checked plans, as an embedder sees it.
#include "stowplan/session.h"

#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/write.h"
#include "stowplan/page.h"

namespace stowplan {
namespace {

using testing::HasSubstr;

constexpr std::string_view kAxpy = R"(HloModule axpy, is_scheduled=true

ENTRY main {
  x = f32[1000]{0} parameter(0)
  y = f32[1000]{0} parameter(1)
  two = f32[] constant(2)
  a = f32[1000]{0} broadcast(two), dimensions={}
  ax = f32[1000]{0} multiply(a, x)
  ROOT z = f32[1000]{0} add(ax, y)
}
)";

// The product is a temporary.
constexpr std::string_view kNorm = R"(HloModule norm, is_scheduled=true

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[1000]{0} parameter(0)
  zero = f32[] constant(0)
  p = f32[1000]{0} multiply(x, x)
  ROOT n = f32[] reduce(p, zero), dimensions={0}, to_apply=sum
}
)";

// The loop writes over a parameter that is not donated: no plan is sound.
constexpr std::string_view kLacksCopy = R"(HloModule m, is_scheduled=true

body {
  a = f32[4]{0} parameter(0)
  ROOT n = f32[4]{0} negate(a)
}
cond {
  b = f32[4]{0} parameter(0)
  ROOT k = pred[] constant(true)
}
ENTRY e {
  x = f32[4]{0} parameter(0)
  ROOT w = f32[4]{0} while(x), condition=cond, body=body
}
)";

Result<PlannedModule> LoadText(std::string_view text, const PlanOptions& options) {
  STOWPLAN_TRY(const Inputs inputs, OpenBytes("<text>", text));
  return LoadOne(inputs, options);
}

std::string ErrorOf(const Result<PlannedModule>& planned) {
  return planned ? "" : Render(planned.error());
}

TEST(Session, AModuleWithoutAPlanGetsOneThatIsSound) {
  const Result<PlannedModule> planned = LoadText(kAxpy, {.target = "cpu"});
  ASSERT_TRUE(planned.has_value()) << Render(planned.error());
  EXPECT_EQ(planned->origin, Origin::kXla);
  EXPECT_EQ(planned->verdict.soundness, Soundness::kSound);
  EXPECT_EQ(planned->target->name, "cpu");
  EXPECT_FALSE(planned->release.empty());
  EXPECT_THAT(Render(planned->notes), HasSubstr("target cpu by the options"));
}

TEST(Session, AReportIsGivenAndNotCheckedUntilItIs) {
  const Result<PlannedModule> made = LoadText(kAxpy, {.target = "cpu"});
  ASSERT_TRUE(made.has_value());
  const std::string text = report::WriteCombined(*made->report, made->report->dialect);
  const Result<PlannedModule> given = LoadText(text, {});
  ASSERT_TRUE(given.has_value()) << Render(given.error());
  EXPECT_EQ(given->origin, Origin::kGiven);
  EXPECT_EQ(given->module, nullptr);
  EXPECT_EQ(given->verdict.soundness, Soundness::kUnchecked);
  EXPECT_FALSE(given->verdict.reason.empty());
  const Result<PlannedModule> checked = Check(*given, {});
  ASSERT_TRUE(checked.has_value()) << Render(checked.error());
  EXPECT_EQ(checked->verdict.soundness, Soundness::kSound);
  EXPECT_TRUE(checked->verdict.is_by_report);
}

TEST(Session, AnUnsoundPlanIsGivenOnDemandAlone) {
  EXPECT_THAT(ErrorOf(LoadText(kLacksCopy, {.target = "cpu"})),
              HasSubstr("no plan for this program is sound"));
  const Result<PlannedModule> planned =
      LoadText(kLacksCopy, {.target = "cpu", .allow_unsound = true});
  ASSERT_TRUE(planned.has_value()) << Render(planned.error());
  EXPECT_EQ(planned->verdict.soundness, Soundness::kUnsound);
  EXPECT_FALSE(planned->verdict.findings.empty());
}

TEST(Session, ALowerPlanOfALoadedModule) {
  const Result<PlannedModule> planned = LoadText(kNorm, {.target = "cpu"});
  ASSERT_TRUE(planned.has_value());
  const Result<PlannedModule> lower = Plan(*planned, {.policy = Policy::kBest});
  ASSERT_TRUE(lower.has_value()) << Render(lower.error());
  EXPECT_EQ(lower->origin, Origin::kBest);
  EXPECT_EQ(lower->verdict.soundness, Soundness::kSound);
  ASSERT_EQ(lower->heaps.size(), 1U);
  EXPECT_LE(lower->heaps[0].bytes, lower->heaps[0].xla_bytes);
  // The first plan is as it was.
  EXPECT_EQ(planned->origin, Origin::kXla);
}

TEST(Session, NamesThatAreNoneAreErrors) {
  EXPECT_THAT(ErrorOf(LoadText(kAxpy, {.target = "cpx"})), HasSubstr("did you mean `cpu`?"));
  EXPECT_THAT(ErrorOf(LoadText(kAxpy, {.target = "cpu", .release = "jaxlib-9"})),
              HasSubstr("jaxlib-9"));
  EXPECT_THAT(ErrorOf(LoadText(kAxpy, {.target = "cpu", .scheduler = "none"})),
              HasSubstr("there is no schedule `none`"));
  EXPECT_THAT(ErrorOf(LoadText(kAxpy, {})), HasSubstr("`target = cpu`"));
  EXPECT_FALSE(Open({"/nowhere/at/all"}).has_value());
}

TEST(Session, WritesReportsJsonTablesAndPages) {
  const Result<PlannedModule> planned = LoadText(kAxpy, {.target = "cpu"});
  ASSERT_TRUE(planned.has_value());
  const std::vector<ReportFile> files = ReportFilesOf(*planned);
  ASSERT_FALSE(files.empty());
  EXPECT_THAT(files[0].name, testing::EndsWith("-buffer-assignment.txt"));
  EXPECT_THAT(files[0].text, testing::StartsWith("BufferAssignment:"));
  EXPECT_THAT(JsonOf(*planned), HasSubstr("\"allocations\""));
  EXPECT_TRUE(CsvOf(*planned, "allocations").has_value());
  EXPECT_FALSE(CsvOf(*planned, "nothing").has_value());
  const Result<std::string> text = ExplainText(*planned);
  ASSERT_TRUE(text.has_value()) << Render(text.error());
  EXPECT_THAT(*text, HasSubstr("live at the peak"));
  const Result<std::string> page = HtmlPage({*planned});
  ASSERT_TRUE(page.has_value()) << Render(page.error());
  EXPECT_THAT(*page, testing::StartsWith("<!"));
  EXPECT_FALSE(HtmlPage({}).has_value());
}

}  // namespace
}  // namespace stowplan
