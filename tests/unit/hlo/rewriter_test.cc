// SPDX-License-Identifier: Apache-2.0
#include "hlo/rewriter.h"

#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

constexpr std::string_view kRewritten = R"(HloModule m, is_scheduled=true

ENTRY e {
  p = f32[4]{0} parameter(0)
  a = f32[4]{0} negate(p)
  b = f32[4]{0} add(a, p), control-predecessors={a}
  ROOT c = f32[4]{0} multiply(b, a)
}
)";

hlo::InstrId Find(const hlo::Module& module, std::string_view name) {
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.name(hlo::InstrId(i)) == name) return hlo::InstrId(i);
  }
  return {};
}

TEST(Rewriter, WithoutChangesGivesTheSameProgram) {
  const hlo::Module module = ParseProgram(kRewritten);
  EXPECT_EQ(hlo::ToString(hlo::Rewriter(module).Build()), hlo::ToString(module));
}

TEST(Rewriter, CopiesForAllReaders) {
  const hlo::Module module = ParseProgram(kRewritten);
  hlo::Rewriter rewriter(module);
  const hlo::InstrId p = Find(module, "p");
  rewriter.Replace(p, rewriter.AddCopy(p, p));
  const hlo::Module changed = rewriter.Build();
  EXPECT_EQ(Render(hlo::Verify(changed)), "");
  EXPECT_EQ(OrderOf(changed), "p copy a b c");
  const std::string text = hlo::ToString(changed);
  EXPECT_NE(text.find("copy(p)"), std::string::npos) << text;
  EXPECT_NE(text.find("negate(copy)"), std::string::npos) << text;
  EXPECT_NE(text.find("add(a, copy)"), std::string::npos) << text;
}

TEST(Rewriter, RemovesWithControlEdges) {
  const hlo::Module module = ParseProgram(kRewritten);
  hlo::Rewriter rewriter(module);
  rewriter.Replace(Find(module, "a"), Find(module, "p"));
  rewriter.Remove(Find(module, "a"));
  const hlo::Module changed = rewriter.Build();
  EXPECT_EQ(Render(hlo::Verify(changed)), "");
  EXPECT_EQ(OrderOf(changed), "p b c");
  EXPECT_EQ(hlo::ToString(changed).find("control-predecessors"), std::string::npos);
}

TEST(Rewriter, NewNamesDiffer) {
  const hlo::Module module = ParseProgram(kRewritten);
  hlo::Rewriter rewriter(module);
  const hlo::InstrId p = Find(module, "p");
  const hlo::InstrId first = rewriter.AddCopy(p, p);
  rewriter.Replace(p, rewriter.AddCopy(first, first));
  const hlo::Module changed = rewriter.Build();
  EXPECT_EQ(Render(hlo::Verify(changed)), "");
  EXPECT_EQ(OrderOf(changed), "p copy copy.1 a b c");
}

}  // namespace
}  // namespace stowplan::advise
