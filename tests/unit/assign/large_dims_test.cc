// SPDX-License-Identifier: Apache-2.0
// Arrays without elements whose other dimensions have a product that 64 bits cannot hold, and
// attributes that name no dimension: nothing overflows, nobody reads outside. The sanitizers see
// what would.
#include <gmock/gmock.h>

#include "check/check.h"
#include "unit/planning.h"

namespace stowplan {
namespace {

constexpr std::string_view kHuge = "4611686018427387904";  // 2^62
constexpr std::string_view kMostOfAll = "9223372036854775807";

// The plan, from the text to the check; or what the module is refused for.
std::string PlanAndCheck(const std::string& text, std::string_view target) {
  const Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", text));
  if (!module) return Render(module.error());
  if (const Diagnostics complaints = hlo::Verify(*module); !complaints.empty())
    return Render(complaints);
  const Rules rules = RulesOf(*FindTarget(target));
  const Result<Analysis> analysis = Analyze(*module, rules.analysis);
  if (!analysis) return Render(analysis.error());
  const Result<Assignment> plan = Assign(*module, *analysis, rules, std::nullopt);
  if (!plan) return Render(plan.error());
  const Result<check::Verdict> verdict = check::CheckPlan(
      *module,
      report::ReportOf(*module, *analysis, *plan, *report::FindReportStyle("jaxlib-0.10.2")),
      *FindTarget(target));
  if (!verdict) return Render(verdict.error());
  return verdict->is_sound() ? "sound" : "unsound";
}

std::string Shape(std::string_view type, const std::vector<std::string>& dims, bool has_layout) {
  std::string text = std::string(type) + "[";
  for (size_t k = 0; k < dims.size(); ++k) text += (k == 0 ? "" : ",") + dims[k];
  text += "]{";
  for (size_t k = dims.size(); has_layout && k-- > 0;)
    text += std::to_string(k) + (k == 0 ? "" : ",");
  return text + "}";
}

// A fusion of `line` over the parameter `p`, whose shape is `from`.
std::string Fused(const std::string& from, const std::string& to, const std::string& line) {
  return "HloModule m, is_scheduled=true\n"
         "sum {\n  sa = f32[] parameter(0)\n  sb = f32[] parameter(1)\n"
         "  ROOT s = f32[] add(sa, sb)\n}\n"
         "body {\n  p = " +
         from + " parameter(0)\n  zero = f32[] constant(0)\n  n = " + from +
         " negate(p)\n  ROOT t = " + to + " " + line + "\n}\nENTRY main {\n  a = " + from +
         " parameter(0)\n  x = " + from + " negate(a)\n  ROOT f = " + to +
         " fusion(x), kind=kInput, calls=body\n}\n";
}

TEST(LargeDims, TransposesAndReductionsOfNothing) {
  for (const std::string_view huge : {kHuge, kMostOfAll}) {
    std::vector<std::string> dims = {"0", std::string(huge), std::string(huge), "2"};
    std::ranges::sort(dims);
    do {
      for (const std::string_view target : {"cpu", "gpu", "tpu-v5e"}) {
        for (const std::string_view type : {"f32", "f16", "s4"}) {
          const std::vector<std::string> turned = {dims[2], dims[3], dims[0], dims[1]};
          EXPECT_EQ(PlanAndCheck(Fused(Shape(type, dims, true), Shape(type, turned, true),
                                       "transpose(n), dimensions={2,3,0,1}"),
                                 target),
                    "sound")
              << target << Shape(type, dims, true);
        }
        for (const std::string reduced : {"0,1", "1,2", "2,3", "0,3", "0,1,2,3"}) {
          std::vector<std::string> kept;
          for (size_t k = 0; k < dims.size(); ++k) {
            if (reduced.find(std::to_string(k)) == std::string::npos) kept.push_back(dims[k]);
          }
          const std::string answer =
              PlanAndCheck(Fused(Shape("f32", dims, true), Shape("f32", kept, true),
                                 "reduce(n, zero), dimensions={" + reduced + "}, to_apply=sum"),
                           target);
          // Reducing the empty dimension alone leaves an array that is too large.
          EXPECT_THAT(answer, testing::AnyOf("sound", testing::HasSubstr("64 bits"))) << answer;
        }
      }
    } while (std::ranges::next_permutation(dims).found);
  }
}

TEST(LargeDims, AnEmptyArrayHasNoBytesInAnyOrderOfItsDimensions) {
  for (const std::string_view target : {"cpu", "gpu", "tpu-v5e"}) {
    for (const std::string_view dims : {"0,4611686018427387904,4611686018427387904",
                                        "4611686018427387904,4611686018427387904,0"}) {
      const std::string shape = "f32[" + std::string(dims) + "]{2,1,0}";
      EXPECT_EQ(PlanAndCheck("HloModule m, is_scheduled=true\nENTRY main {\n  p = " + shape +
                                 " parameter(0)\n  k = " + shape +
                                 " constant({})\n  ROOT r = " + shape + " add(p, k)\n}\n",
                             target),
                "sound");
    }
  }
}

// Numbers that are no dimensions, too few of them, and arrays of another rank.
TEST(LargeDims, TransposesThatMakeNoSense) {
  for (const std::string_view target : {"cpu", "gpu", "tpu-v5e"}) {
    for (const std::string_view dimensions : {"7,0", "-1,0", "0,0", "0", "", "0,1,2"}) {
      const std::string text = Fused("f32[64,64]{1,0}", "f32[64,64]{1,0}",
                                     "transpose(n), dimensions={" + std::string(dimensions) + "}");
      EXPECT_NE(PlanAndCheck(text, target), "") << dimensions;
    }
    EXPECT_NE(
        PlanAndCheck(Fused("f32[64,8,8]{2,1,0}", "f32[64]{0}", "transpose(n), dimensions={0}"),
                     target),
        "");
  }
}

}  // namespace
}  // namespace stowplan
