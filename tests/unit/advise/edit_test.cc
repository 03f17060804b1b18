// SPDX-License-Identifier: Apache-2.0
#include "advise/edit.h"

#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

constexpr std::string_view kProgram = R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  early = f32[4]{0} negate(p)
  a = f32[4]{0} abs(p)
  c = f32[4]{0} copy(a)
  use = f32[4]{0} add(early, c)
  late = f32[4]{0} add(early, use)
  ROOT w = f32[4]{0} multiply(late, a)
}
)";

Result<hlo::Module> Changed(const hlo::Module& module, const std::vector<Edit>& edits) {
  return Apply(module, edits, CpuSetting());
}

std::string OrderAfter(EditKind kind, std::string instruction, std::string anchor) {
  const hlo::Module module = ParseProgram(kProgram);
  const Result<hlo::Module> changed = Changed(module, {{.kind = kind,
                                                        .computation = "e",
                                                        .instruction = std::move(instruction),
                                                        .anchor = std::move(anchor)}});
  if (!changed) return changed.error()[0].message;
  if (const Diagnostics complaints = hlo::Verify(*changed); !complaints.empty())
    return "not valid: " + complaints[0].message;
  FiguresOfProgram(*changed);
  return OrderOf(*changed);
}

TEST(Edit, MovesADefinitionLater) {
  EXPECT_EQ(OrderAfter(EditKind::kMoveLater, "early", "use"), "p a c early use late w");
}

TEST(Edit, MovesAUseEarlier) {
  EXPECT_EQ(OrderAfter(EditKind::kMoveEarlier, "use", "c"), "p early a c use late w");
}

TEST(Edit, ThatRunsAUseTooEarlyIsNoProgram) {
  EXPECT_TRUE(OrderAfter(EditKind::kMoveEarlier, "use", "early").starts_with("not valid"));
}

TEST(Edit, DropsACopy) {
  EXPECT_EQ(OrderAfter(EditKind::kDropCopy, "c", ""), "p early a use late w");
}

TEST(Edit, DropsOnlyCopies) {
  EXPECT_EQ(OrderAfter(EditKind::kDropCopy, "a", ""), "a is not a copy");
  EXPECT_EQ(OrderAfter(EditKind::kDropCopy, "z", ""), "there is no z in e");
}

TEST(Edit, RematerializesForLaterUses) {
  const hlo::Module module = ParseProgram(kProgram);
  const Result<hlo::Module> changed = Changed(module, {{.kind = EditKind::kRematerialize,
                                                        .computation = "e",
                                                        .instruction = "early",
                                                        .anchor = "late"}});
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(OrderOf(*changed), "p early a c use early.remat late w");
  EXPECT_NE(hlo::ToString(*changed).find("add(early.remat, use)"), std::string::npos);
  EXPECT_NE(hlo::ToString(*changed).find("add(early, c)"), std::string::npos);
  FiguresOfProgram(*changed);
}

TEST(Edit, RecomputesOneFromTheOther) {
  const hlo::Module module = ParseProgram(kProgram);
  const Result<hlo::Module> changed = Changed(module, {{.kind = EditKind::kRematerialize,
                                                        .computation = "e",
                                                        .instruction = "use",
                                                        .anchor = "late"},
                                                       {.kind = EditKind::kRematerialize,
                                                        .computation = "e",
                                                        .instruction = "early",
                                                        .anchor = "late"}});
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(OrderOf(*changed), "p early a c use early.remat use.remat late w");
  EXPECT_NE(hlo::ToString(*changed).find("add(early.remat, c)"), std::string::npos);
  EXPECT_NE(hlo::ToString(*changed).find("add(early.remat, use.remat)"), std::string::npos);
  FiguresOfProgram(*changed);
}

TEST(Edit, SeveralApplyInTurn) {
  const hlo::Module module = ParseProgram(kProgram);
  const Result<hlo::Module> changed =
      Changed(module, {{.kind = EditKind::kDropCopy, .computation = "e", .instruction = "c"},
                       {.kind = EditKind::kDonate, .parameters = {0}},
                       {.kind = EditKind::kMoveLater,
                        .computation = "e",
                        .instruction = "early",
                        .anchor = "use"}});
  ASSERT_TRUE(changed.has_value()) << Render(changed.error());
  EXPECT_EQ(CountCopies(*changed), 0);
  EXPECT_EQ(changed->header.aliases.size(), 1U);
  FiguresOfProgram(*changed);
}

}  // namespace
}  // namespace stowplan::advise
