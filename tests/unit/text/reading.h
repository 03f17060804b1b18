// SPDX-License-Identifier: Apache-2.0
// What the tests of the text reader have in common.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "hlo/print.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"
#include "text/parse.h"

namespace stowplan {

// A text, and what it prints as when that is something else.
struct TextCase {
  std::string_view in;
  std::string_view out = {};

  [[nodiscard]] std::string_view expected() const { return out.empty() ? in : out; }
};

inline Result<hlo::Module> Parse(std::string_view text) {
  return ParseText(Source::FromBytes("test.hlo", text));
}

// The module printed, in its own dialect; the errors if it is not accepted.
inline std::string Reprint(std::string_view text) {
  const Result<hlo::Module> module = Parse(text);
  return module ? hlo::ToString(*module) : Render(module.error());
}

inline std::string Reprint(std::string_view text, const hlo::Dialect& dialect) {
  const Result<hlo::Module> module = Parse(text);
  return module ? hlo::ToString(*module, dialect) : Render(module.error());
}

// The warnings that reading gives, or the errors.
inline std::string Warnings(std::string_view text) {
  const Result<hlo::Module> module = Parse(text);
  return Render(module ? module->warnings : module.error());
}

// How the root of the entry computation prints, or the errors.
inline std::string ReprintRoot(std::string_view text) {
  const Result<hlo::Module> module = Parse(text);
  if (!module) return Render(module.error());
  std::string out;
  const hlo::InstrId root = module->computations[module->entry].root;
  hlo::AppendInstruction(*module, root, module->dialect, out);
  return out;
}

// The same for an instruction that is the root of the entry computation here.
inline std::string ReprintInstruction(std::string_view instruction) {
  std::string text = R"(HloModule test
%sum (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

%double (d: f32[4]) -> f32[4] {
  %d = f32[4]{0} parameter(0)
  ROOT %dd = f32[4]{0} add(%d, %d)
}

%less (lhs: f32[], rhs: f32[]) -> pred[] {
  %lhs = f32[] parameter(0)
  %rhs = f32[] parameter(1)
  ROOT %lt = pred[] compare(%lhs, %rhs), direction=LT
}

%small (sm: f32[4]) -> pred[] {
  %sm = f32[4]{0} parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main {
  %a = f32[4]{0} parameter(0)
  %b = f32[4]{0} parameter(1)
  %m = f32[4,4]{1,0} parameter(2)
  %v = f32[1,4,4,4]{3,2,1,0} parameter(3)
  %z = f32[] parameter(4)
  %i = s32[] parameter(5)
  %j = s32[2]{0} parameter(6)
  %t = (f32[4]{0}, s32[]) parameter(7)
  %ok = pred[] parameter(8)
  %tok = token[] parameter(9)
  ROOT )";
  text.append(instruction).append("\n}\n");
  return ReprintRoot(text);
}

}  // namespace stowplan
