// SPDX-License-Identifier: Apache-2.0
// One module in many dialects; the order of computations; printing in pieces.
#include "hlo/print.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stowplan/hlo/module_builder.h"
#include "text/parse.h"

namespace stowplan::hlo {
namespace {

Module Read(std::string_view text) {
  Result<Module> module = ParseText(Source::FromBytes("test.hlo", text));
  EXPECT_TRUE(module) << Render(module.error());
  return module ? *std::move(module) : Module{};
}

constexpr std::string_view kNewest =
    R"(HloModule m, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[2]{0}, (f32[2]{0}, s32[]))->f32[2]{0}}, allow_spmd_sharding_propagation_to_output={true}, replica_count=2

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=14 end_line=15 column=4 end_column=27}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


ENTRY %e (a: f32[2], t: (f32[2], s32[])) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %t = (f32[2]{0}, s32[]) parameter(1)
  %g = f32[2]{0} get-tuple-element(%t), index=0
  %c = f32[2]{0} custom-call(%a, %g, %a, %a, %a, /*index=5*/%a), custom_call_target="f", frontend_attributes={k={"x": 1}}, metadata={op_name="n" stack_frame_id=1}, backend_config={"y":2}
  ROOT %r = f32[2]{0} constant({1, 2}), control-predecessors={%c}
}

)";

TEST(Print, EachSwitchOfADialect) {
  const Module module = Read(kNewest);
  EXPECT_EQ(ToString(module), kNewest);
  // The newest text with every `from` replaced by `to`, and how the dialect prints the module.
  struct Case {
    void (*change)(Dialect&);
    std::vector<std::pair<std::string, std::string>> replaced;
  };
  const std::string tables(kNewest.substr(
      kNewest.find("\n\nFileNames"), kNewest.find("\n\nENTRY") - kNewest.find("\n\nFileNames")));
  const std::vector<Case> cases = {
      {[](Dialect& d) { d.operand_shapes = true; },
       {{"get-tuple-element(%t)", "get-tuple-element((f32[2]{0}, s32[]) %t)"},
        {"(%a, %g, %a, %a, %a, /*index=5*/%a)",
         "(f32[2]{0} %a, f32[2]{0} %g, f32[2]{0} %a, f32[2]{0} %a, f32[2]{0} %a, "
         "/*index=5*/f32[2]{0} %a)"}}},
      {[](Dialect& d) { d.index_comments = false; }, {{"/*index=5*/", ""}}},
      {[](Dialect& d) { d.compact_tuples = true; },
       {{"  %g = f32[2]{0} get-tuple-element(%t), index=0\n", ""}, {"%g", "%t#0"}}},
      {[](Dialect& d) { d.raw_config = false; },
       {{"backend_config={\"y\":2}", "backend_config=\"{\\\"y\\\":2}\""}}},
      {[](Dialect& d) { d.raw_frontend = false; }, {{"{\"x\": 1}", "\"{\\\"x\\\": 1}\""}}},
      {[](Dialect& d) { d.entry_layout = false; },
       {{", entry_computation_layout={(f32[2]{0}, (f32[2]{0}, s32[]))->f32[2]{0}}", ""}}},
      {[](Dialect& d) { d.spaced_entry_layout = false; }, {{"{(f32[2]{0}, (", "{(f32[2]{0},("}}},
      {[](Dialect& d) { d.bare_output_propagation = true; },
       {{"propagation_to_output={true}", "propagation_to_output=true"}}},
      {[](Dialect& d) { d.replica_counts = false; }, {{", replica_count=2", ""}}},
      {[](Dialect& d) { d.buffer_donors = false; }, {{", buffer_donor={ (0, {}) }", ""}}},
      {[](Dialect& d) { d.constant_shapes = true; },
       {{"constant({1, 2})", "constant(f32[2] {1, 2})"}}},
      {[](Dialect& d) { d.stack_frames = false; },
       {{tables, ""},
        {"stack_frame_id=1",
         "source_file=\"a.py\" source_line=14 source_end_line=15 source_column=4 "
         "source_end_column=27"}}},
      {[](Dialect& d) { d.stack_frames = d.metadata_ends = false; },
       {{tables, ""}, {"stack_frame_id=1", "source_file=\"a.py\" source_line=14"}}},
  };
  for (const Case& c : cases) {
    Dialect dialect;
    c.change(dialect);
    std::string expected(kNewest);
    for (const auto& [from, to] : c.replaced) {
      ASSERT_NE(expected.find(from), std::string::npos) << from;
      for (size_t at = expected.find(from); at != std::string::npos;
           at = expected.find(from, at + to.size())) {
        expected.replace(at, from.size(), to);
      }
    }
    EXPECT_EQ(ToString(module, dialect), expected);
  }
}

TEST(Print, ShortForm) {
  const Module module = Read(kNewest);
  Dialect dialect;
  dialect.long_form = false;
  const std::string text = ToString(module, dialect);
  // Dumps in this form have neither `%` nor program shapes, but all the rest.
  EXPECT_EQ(text.substr(text.find("ENTRY")), R"(ENTRY e {
  a = f32[2]{0} parameter(0)
  t = (f32[2]{0}, s32[]) parameter(1)
  g = f32[2]{0} get-tuple-element(t), index=0
  c = f32[2]{0} custom-call(a, g, a, a, a, /*index=5*/a), custom_call_target="f", frontend_attributes={k={"x": 1}}, metadata={op_name="n" stack_frame_id=1}, backend_config={"y":2}
  ROOT r = f32[2]{0} constant({1, 2}), control-predecessors={c}
}

)");
}

TEST(Print, ClosingNames) {
  std::string text = "HloModule m\n\nENTRY e {\n  a0 = f32[] constant(1)\n";
  for (int i = 1; i < 5; ++i) {
    text += "  a" + std::to_string(i) + " = f32[] negate(a" + std::to_string(i - 1) + ")\n";
  }
  Dialect dialect;
  dialect.long_form = false;
  dialect.closing_names = true;
  EXPECT_TRUE(ToString(Read(text + "}\n"), dialect).ends_with("\n}\n\n"));
  text += "  a5 = f32[] negate(a4)\n";
  EXPECT_TRUE(ToString(Read(text + "}\n"), dialect).ends_with("\n} // e\n\n"));
}

TEST(Print, OneInstruction) {
  const Module module = Read(kNewest);
  std::string out = "> ";
  AppendInstruction(module, InstrId(size_t{2}), {}, out);
  EXPECT_EQ(out, "> %g = f32[2]{0} get-tuple-element(%t), index=0");
}

TEST(Print, ComesInPiecesUntilTheSinkHasEnough) {
  std::string text = "HloModule m\n\nENTRY e {\n  a0 = f32[] constant(1)\n";
  for (int i = 1; i < 20'000; ++i) {
    text += "  a" + std::to_string(i) + " = f32[] negate(a" + std::to_string(i - 1) + ")\n";
  }
  const Module module = Read(text + "}\n");
  std::string whole;
  size_t pieces = 0;
  PrintModule(module, module.dialect, [&](std::string_view piece) {
    whole += piece;
    ++pieces;
    return true;
  });
  EXPECT_EQ(whole, ToString(module));
  EXPECT_EQ(pieces, 10U);
  size_t calls = 0;
  PrintModule(module, module.dialect, [&](std::string_view) { return ++calls < 2; });
  EXPECT_EQ(calls, 2U);
}

TEST(Print, CalleesComeFirst) {
  const Module module = Read(R"(HloModule m
ENTRY e {
  x = f32[] constant(1)
  a = f32[] call(x), to_apply={ ROOT p = f32[] parameter(0) }
  ROOT b = f32[] call(a), to_apply={ q = f32[] parameter(0)
    ROOT c = f32[] call(q), to_apply={ ROOT r = f32[] parameter(0) } }
}
)");
  std::vector<std::string_view> names;
  for (const CompId id : PrintOrder(module)) names.push_back(module.name(id));
  EXPECT_EQ(names, (std::vector<std::string_view>{"computation.1", "computation.3", "computation.2",
                                                  "e"}));
}

TEST(Print, ManyCallsDeep) {
  std::string text = "HloModule m\n\nf0 {\n  ROOT p0 = f32[] parameter(0)\n}\n\n";
  constexpr int kDepth = 20'000;
  for (int i = 1; i < kDepth; ++i) {
    const std::string n = std::to_string(i);
    text += i + 1 == kDepth ? "ENTRY f" : "f";
    text += n + " {\n  p" + n + " = f32[] parameter(0)\n  ROOT r" + n + " = f32[] call(p" + n +
            "), to_apply=f" + std::to_string(i - 1) + "\n}\n\n";
  }
  Module module = Read(text);
  EXPECT_EQ(ToString(module), text);
  // As if it came from a proto, so that the order has to be found.
  module.format = Format::kProto;
  EXPECT_EQ(ToString(module), text);
}

}  // namespace
}  // namespace stowplan::hlo
