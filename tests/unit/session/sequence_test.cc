// SPDX-License-Identifier: Apache-2.0
// Modules without a schedule, in the order that a report shows.
#include "session/sequence.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/write.h"
#include "schedule/make_schedule.h"
#include "session/setting.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kProgram = R"(HloModule m

sum {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT s = f32[] add(l, r)
}

ENTRY e {
  x = f32[1000]{0} parameter(0)
  zero = f32[] constant(0)
  a = f32[1000]{0} negate(x)
  b = f32[1000]{0} exponential(x)
  u = f32[] reduce(a, zero), dimensions={0}, to_apply=sum
  v = f32[] reduce(b, zero), dimensions={0}, to_apply=sum
  ROOT t = (f32[], f32[]) tuple(u, v)
}
)";

hlo::Module ProgramOf(std::string_view text) {
  Result<hlo::Module> module = ParseModule(Source::FromBytes("m.txt", text));
  EXPECT_TRUE(module) << Render(module.error());
  return *std::move(module);
}

std::optional<hlo::Module> Follow(std::string_view text, std::vector<std::string_view> sequence) {
  report::Report report;
  report.live_ranges.emplace();
  report.live_ranges->sequence = std::move(sequence);
  return FollowSequence(ProgramOf(text), report, *FindTarget("cpu"));
}

std::vector<std::string_view> NamesOf(const hlo::Module& module, hlo::CompId id) {
  std::vector<std::string_view> names;
  for (const hlo::InstrId instr : module.schedule_of(id)) names.push_back(module.name(instr));
  return names;
}

TEST(SessionSequence, IsTheSchedule) {
  const auto module = Follow(kProgram, {"zero", "x", "b", "v", "a", "u", "t"});
  ASSERT_TRUE(module);
  EXPECT_TRUE(IsScheduled(*module));
  EXPECT_THAT(NamesOf(*module, module->entry), ElementsAre("zero", "x", "b", "v", "a", "u", "t"));
  // What runs in parallel is in no sequence.
  EXPECT_THAT(NamesOf(*module, hlo::CompId(size_t{0})), ElementsAre("l", "r", "s"));
}

TEST(SessionSequence, MustBeOneOfTheModule) {
  EXPECT_FALSE(Follow(kProgram, {}));
  EXPECT_FALSE(Follow(kProgram, {"zero", "x", "b", "v", "a", "u", "other"}));
  EXPECT_FALSE(Follow(kProgram, {"zero", "x", "b", "v", "a", "u"}));       // a part
  EXPECT_FALSE(Follow(kProgram, {"l", "r", "s"}));                         // not the entry
  EXPECT_FALSE(Follow(kProgram, {"zero", "b", "x", "v", "a", "u", "t"}));  // b reads x
  // Names that do not say which instruction is meant.
  std::string twice(kProgram);
  twice.replace(twice.find("l = "), 1, "x").replace(twice.find("add(l"), 5, "add(x");
  EXPECT_FALSE(Follow(twice, {"zero", "x", "b", "v", "a", "u", "t"}));
  // The body of a fusion has no order.
  constexpr std::string_view kFused = R"(HloModule m
f {
  ROOT p = f32[] parameter(0)
}
ENTRY e {
  x = f32[] parameter(0)
  ROOT y = f32[] fusion(x), kind=kLoop, calls=f
}
)";
  EXPECT_TRUE(Follow(kFused, {"x", "y"}));
  EXPECT_FALSE(Follow(kFused, {"x", "p", "y"}));
}

// A dump of a compiler that wrote modules without a schedule: the report beside the module is the
// plan of another order than any that Stowplan would choose.
class SessionDump : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("stowplan-sequence-" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
    std::string scheduled(kProgram);
    scheduled.replace(0, 11, "HloModule m, is_scheduled=true");
    const size_t a = scheduled.find("  a = ");
    const size_t b = scheduled.find("  b = ");
    const size_t u = scheduled.find("  u = ");
    const size_t v = scheduled.find("  v = ");
    const size_t end = scheduled.find("  ROOT t");
    scheduled = scheduled.substr(0, a) + scheduled.substr(b, u - b) + scheduled.substr(v, end - v) +
                scheduled.substr(a, b - a) + scheduled.substr(u, v - u) + scheduled.substr(end);
    const Result<PlannedModule> planned =
        Plan(ProgramOf(scheduled), {.target = "cpu", .release = "jaxlib-0.4.13"});
    ASSERT_TRUE(planned) << Render(planned.error());
    report_ = report::WriteCombined(*planned->report, planned->report->dialect);
    Write("-buffer-assignment.txt", report_);
    Write(".txt", kProgram);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string Path(std::string_view ending) const {
    return (folder_ / ("module_0001.m.cpu_after_optimizations" + std::string(ending))).string();
  }
  void Write(std::string_view ending, std::string_view text) const {
    std::ofstream(Path(ending), std::ios::binary) << text;
  }

  std::filesystem::path folder_;
  std::string report_;
};

TEST_F(SessionDump, TheReportTellsTheOrder) {
  const Result<Inputs> inputs = Open({folder_.string()});
  ASSERT_TRUE(inputs);
  const Result<PlannedModule> loaded = LoadOne(*inputs, {});
  ASSERT_TRUE(loaded) << Render(loaded.error());
  EXPECT_THAT(NamesOf(*loaded->module, loaded->module->entry),
              ElementsAre("x", "zero", "b", "v", "a", "u", "t"));
  // Planned again, it is the same plan.
  const Result<PlannedModule> again = stowplan::Plan(*loaded, {});
  ASSERT_TRUE(again) << Render(again.error());
  EXPECT_EQ(again->verdict.soundness, Soundness::kSound);
  EXPECT_EQ(report::WriteCombined(*again->report, again->report->dialect), report_);
  for (const Diagnostic& note : again->notes)
    EXPECT_THAT(note.message, Not(HasSubstr("no schedule")));
}

TEST_F(SessionDump, TheReportBesideAFileTellsOrderAndRelease) {
  auto module = std::make_shared<const hlo::Module>(ProgramOf(kProgram));
  PlanOptions options;
  const Diagnostics notes = UseReportBeside(Path(".txt"), module, options);
  EXPECT_TRUE(IsScheduled(*module));
  EXPECT_EQ(NamesOf(*module, module->entry)[2], "b");
  // The text is by hand, so the report alone tells the release.
  EXPECT_EQ(options.release, "tf-2.11");
  EXPECT_THAT(Render(notes), HasSubstr("as the report beside the module shows"));
  // What is said stays as it is.
  module = std::make_shared<const hlo::Module>(ProgramOf(kProgram));
  options = {.release = "jaxlib-0.11.2", .scheduler = "list"};
  EXPECT_TRUE(UseReportBeside(Path(".txt"), module, options).empty());
  EXPECT_FALSE(IsScheduled(*module));
  EXPECT_EQ(options.release, "jaxlib-0.11.2");
  // A report that cannot be read is no help, and no harm.
  Write("-buffer-assignment.txt", "BufferAssignment:\nallocation x");
  options = {};
  EXPECT_TRUE(UseReportBeside(Path(".txt"), module, options).empty());
  EXPECT_TRUE(UseReportBeside("no/such/file.txt", module, options).empty());
}

}  // namespace
}  // namespace stowplan
