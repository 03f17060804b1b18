// SPDX-License-Identifier: Apache-2.0
// Inputs made to break a reader: endless nesting, huge numbers, and texts that would take more than
// linear time or memory.
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "growth.h"
#include "property/survival.h"

namespace stowplan {
namespace {

using namespace std::string_view_literals;

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

std::string Lines(size_t count, const std::function<std::string(std::string)>& line) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += line(std::to_string(i));
  return out;
}

std::string Entry(const std::string& body) { return "HloModule m\n\nENTRY %e {\n" + body + "}\n"; }

TEST(Hostile, NestedAMillionDeep) {
  constexpr size_t kDepth = 1'000'000;
  for (const std::string_view before : {
           "%a = "sv,
           "%a = f32[] add("sv,
           "%a = f32[] constant("sv,
           "%a = c64[] constant("sv,
           "%a = (f32[]) constant("sv,
           "%a = f32[1] constant("sv,
           "%a = f32[] iota(), unknown="sv,
           "%a = f32[] iota(), sharding="sv,
           "%a = f32[] iota(), origin="sv,
           "%a = f32[] iota(), origin={"sv,
           "%a = f32[] iota(), statistics="sv,
           "%a = f32[] iota(), result_accuracy="sv,
           "%a = f32[] iota(), backend_config="sv,
           "%a = f32[] iota(), frontend_attributes={a="sv,
           "%a = f32[] iota(), metadata={profile_info="sv,
           "%a = f32[] iota(), outfeed_shape="sv,
           "%a = f32[] iota(), operand_layout_constraints={"sv,
           "%a = f32[] iota(), replica_groups="sv,
           "%a = f32[] iota(), literal="sv,
           "%a = f32[] iota(), to_apply="sv,
           "%a = f32[] iota(), domain={kind=\"x\", entry="sv,
           "%a = f32[2]{0:P("sv,
       }) {
    for (const std::string_view open :
         {"("sv, "{"sv, "["sv, "{{"sv, "b("sv, "f32[2]{0:P("sv, "negate("sv, "{("sv}) {
      const std::string text =
          "HloModule m\nENTRY %e {\n  " + std::string(before) + Repeat(open, kDepth / open.size());
      ExpectSurvives(ParseText, text, before);
    }
  }
  ExpectSurvives(ParseText, "HloModule m, entry_computation_layout={" + Repeat("(", kDepth), "");
  ExpectSurvives(ParseText, "HloModule m, unknown=" + Repeat("{", kDepth), "");
  ExpectSurvives(ParseText, "ENTRY %e (a: " + Repeat("(", kDepth), "");
}

TEST(Hostile, HugeNumbers) {
  constexpr std::string_view kMax = "9223372036854775807";
  for (const std::string& shape : {
           std::string("f32[?]"),
           "f32[" + std::string(kMax) + "]",
           "f32[" + std::string(kMax) + "," + std::string(kMax) + "]",
           "f32[<=" + std::string(kMax) + ",?]",
           "f32[2]{0:T(" + std::string(kMax) + ")}",
           "f32[2]{0:T(*,*," + std::string(kMax) + ")}",
           "f32[2]{0:L(" + std::string(kMax) + ")E(" + std::string(kMax) + ")}",
           "f32[2]{0:S(" + std::string(kMax) + ")M(" + std::string(kMax) + ")}",
           "f32[2]{0:SC(" + std::string(kMax) + ":" + std::string(kMax) + ")}",
           std::string("f32[2]{9223372036854775807}"),
       }) {
    for (const char* rest : {"parameter(0)", "parameter(2147483647)", "constant({1, 2})",
                             "constant({...})", "iota(), iota_dimension=9223372036854775807",
                             "custom-call(), custom_call_target=\"t\", window={size="
                             "9223372036854775807 pad=9223372036854775807_9223372036854775807}"}) {
      ExpectSurvives(ParseText, Entry("  ROOT %a = " + shape + " " + rest + "\n"), shape);
    }
    // Shapes that are left out are computed with such numbers.
    for (const char* rest : {
             "pad(%a, %z), padding=9223372036854775807_9223372036854775807_9223372036854775807",
             "pad(%a, %z), padding=0_0_1",
             "slice(%a), slice={[0:9223372036854775807:9223372036854775807]}",
             "slice(%a), slice={[-9223372036854775808:9223372036854775807]}",
             "concatenate(%a, %a), dimensions={0}",
             "reduce-window(%a, %z), window={size=9223372036854775807 stride=1}",
             "reduce-window(%a, %z), window={size=1 pad=9223372036854775807_9223372036854775807}",
             "dot(%a, %a), lhs_batch_dims={-1}, rhs_batch_dims={9223372036854775807}",
             "dynamic-slice(%a, %z), dynamic_slice_sizes={-9223372036854775808}",
             "transpose(%a), dimensions={9223372036854775807}",
             "get-tuple-element(%a), index=9223372036854775807",
         }) {
      ExpectSurvives(ParseText,
                     Entry("  %z = f32[] constant(0)\n  %a = " + shape +
                           " parameter(0)\n  ROOT %b = " + rest + "\n"),
                     rest);
    }
  }
}

// Each tuple holds the one above twice; written out, the last would have 2^60 elements.
TEST(Hostile, TuplesThatDouble) {
  const std::string text = Entry("  %t0 = (f32[], f32[]) parameter(0)\n" + [] {
    std::string lines;
    for (int i = 1; i < 60; ++i) {
      const std::string last = "%t" + std::to_string(i - 1);
      lines += "  %t" + std::to_string(i) + " = tuple(" + last + ", " + last + ")\n";
    }
    return lines;
  }());
  // Printing this would fill the memory, so reading has to refuse it.
  EXPECT_FALSE(ParseText(Source::FromBytes("doubling", text)));
}

TEST(Hostile, TimeIsLinear) {
  const std::string x = "  %x = f32[] parameter(0)\n";
  const std::string start =
      "  %y = f32[8]{0} parameter(0)\n"
      "  %u = ((f32[8]{0}), f32[2]{0}, u32[]) slice-start(%y), slice={[0:2]}\n";
  const auto update = [](const std::string& i) {
    const std::string last = i == "0" ? "%u" : "%u" + std::to_string(std::stoi(i) - 1);
    return "  %u" + i + " = ((f32[8]{0}), f32[2]{0}, u32[]) slice-update(" + last + ")\n";
  };
  // Texts of so many lines.
  using Text = std::function<std::string(size_t)>;
  const auto repeated = [](const std::string& head, const auto& line) -> Text {
    return [=](size_t count) { return Entry(head + Lines(count, line)); };
  };
  const std::pair<const char*, Text> cases[] = {
      {"unknown attributes",
       repeated(x, [](auto i) { return "%a" + i + " = f32[] abs(%x), z" + i + "=1\n"; })},
      {"unknown opcodes",
       repeated(x, [](auto i) { return "%a" + i + " = f32[] z" + i + "(%x)\n"; })},
      {"unknown metadata",
       repeated(x,
                [](auto i) { return "%a" + i + " = f32[] abs(%x), metadata={z" + i + "=1}\n"; })},
      {"made-up names", repeated(x, [](auto i) { return "%a" + i + " = f32[] abs(abs(%x))\n"; })},
      {"layouts", repeated("",
                           [](auto i) {
                             return "%a" + i + " = f32[8]{0:S(" + i + ")} parameter(" + i + ")\n";
                           })},
      {"chains of updates", repeated(start, update)},
      {"bodies in bodies",
       [](size_t count) {
         return Entry("  ROOT %x = f32[] " +
                      Repeat("call(), to_apply={ ROOT a = f32[] ", count / 2) + "constant(1)" +
                      Repeat("}", count / 2) + "\n");
       }},
      {"open dictionaries", repeated("",
                                     [](auto i) {
                                       return "%a" + i + " = f32[] parameter(" + i +
                                              "), backend_config={\n";
                                     })},
      {"open comments", [](size_t count) { return "HloModule m " + Repeat("/* ", count); }},
      {"computations",
       [](size_t count) {
         return "HloModule m\n" + Lines(count, [](auto i) {
                  return "%c" + i + " {\n  ROOT %p = f32[] constant(1)\n}\n";
                });
       }},
  };
  for (const auto& [name, text_of] : cases) {
    const auto reading = [&](size_t count) -> std::function<void()> {
      return [text = text_of(count), name] { ExpectSurvives(ParseText, text, name); };
    };
    EXPECT_TRUE(TimeIsLinear(reading, 50'000)) << name;
  }
}

}  // namespace
}  // namespace stowplan
