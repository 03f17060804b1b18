// SPDX-License-Identifier: Apache-2.0
// What the tests of the planning stages have in common: small programs, and what a stage finds.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "hlo/verify.h"
#include "live/analysis.h"
#include "live/dump.h"
#include "report/from_assignment.h"
#include "report/write.h"
#include "text/parse.h"

namespace stowplan {

inline hlo::Module ParseProgram(std::string_view text) {
  Result<hlo::Module> module = ParseText(Source::FromBytes("test.hlo", text));
  EXPECT_TRUE(module.has_value()) << Render(module.error());
  EXPECT_EQ(Render(hlo::Verify(*module)), "");
  return *std::move(module);
}

struct Program {
  hlo::Module module;
  Analysis analysis;

  [[nodiscard]] hlo::InstrId Find(std::string_view name) const {
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      if (module.name(hlo::InstrId(i)) == name) return hlo::InstrId(i);
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  [[nodiscard]] hlo::CompId FindComputation(std::string_view name) const {
    for (size_t i = 0; i < module.computations.size(); ++i) {
      if (module.name(hlo::CompId(i)) == name) return hlo::CompId(i);
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  // The value born at a part of the instruction. Needs there to be exactly one.
  [[nodiscard]] ValueId ValueAt(std::string_view name, std::vector<int64_t> index = {}) const {
    const hlo::InstrId id = Find(name);
    const uint32_t offset =
        analysis.flow.positions.Find(module.shapes, module.instructions[id].shape, index);
    const std::span<const ValueId> values =
        analysis.flow.at(analysis.flow.positions.At(id, offset));
    EXPECT_EQ(values.size(), 1U) << name;
    return values.empty() ? ValueId() : values[0];
  }
  [[nodiscard]] std::string Dump(std::string_view stage) const {
    return DumpStage(module, analysis, stage);
  }
};

inline Program AnalyzeProgram(std::string_view text, const AnalysisOptions& options = {}) {
  hlo::Module module = ParseProgram(text);
  Result<Analysis> analysis = Analyze(module, options);
  EXPECT_TRUE(analysis.has_value()) << Render(analysis.error());
  return {std::move(module), *std::move(analysis)};
}

// What a stage finds, as text; the errors when it fails.
inline std::string DumpOf(std::string_view text, std::string_view stage,
                          const AnalysisOptions& options = {}) {
  const hlo::Module module = ParseProgram(text);
  const Result<Analysis> analysis = Analyze(module, options);
  return analysis ? DumpStage(module, *analysis, stage) : Render(analysis.error());
}

inline std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The plan as XLA's -buffer-assignment.txt, without its first line; the errors when there is none.
// Nothing may overlap.
inline std::string AssignmentOf(std::string_view text, const Rules& rules,
                                const std::optional<Preset>& preset = std::nullopt) {
  const Program program = AnalyzeProgram(text, rules.analysis);
  const Result<Assignment> plan = Assign(program.module, program.analysis, rules, preset);
  if (!plan) return Render(plan.error());
  EXPECT_EQ(Render(FindOverlaps(program.module, program.analysis, *plan)), "");
  const report::ReportStyle style = *report::FindReportStyle("jaxlib-0.10.2");
  report::ReportDialect dialect = style.dialect;
  dialect.separate_files = true;
  const std::string out = report::WriteAssignment(
      report::ReportOf(program.module, program.analysis, *plan, style), dialect);
  return out.substr(out.find('\n') + 1);
}
inline std::string AssignmentOf(std::string_view text, std::string_view target = "cpu") {
  return AssignmentOf(text, RulesOf(*FindTarget(target)));
}

// A loop with a counter, a sum, and a summand that the body hands on as it is.
inline constexpr std::string_view kLoop = R"(HloModule loop, is_scheduled=true

body {
  bp = (s32[], f32[4], f32[4]) parameter(0)
  bi = s32[] get-tuple-element(bp), index=0
  ba = f32[4] get-tuple-element(bp), index=1
  bc = f32[4] get-tuple-element(bp), index=2
  one = s32[] constant(1)
  bn = s32[] add(bi, one)
  bs = f32[4] add(ba, bc)
  ROOT bt = (s32[], f32[4], f32[4]) tuple(bn, bs, bc)
}

cond {
  cp = (s32[], f32[4], f32[4]) parameter(0)
  ci = s32[] get-tuple-element(cp), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(ci, ten), direction=LT
}

ENTRY e {
  a = f32[4] parameter(0)
  c = f32[4] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[4], f32[4]) tuple(zero, a, c)
  w = (s32[], f32[4], f32[4]) while(init), condition=cond, body=body
  ROOT out = f32[4] get-tuple-element(w), index=1
}
)";

}  // namespace stowplan
