// SPDX-License-Identifier: Apache-2.0
#include "hlo/equal.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/parse.h"

namespace stowplan::hlo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Module ParseModule(std::string_view text) {
  Result<Module> module = ParseText(Source::FromBytes("test.hlo", text));
  EXPECT_TRUE(module.has_value()) << Render(module.error());
  return *std::move(module);
}

constexpr std::string_view kText =
    R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %zero = f32[] constant(0)
  %r = f32[] reduce(%p, %zero), dimensions={0}, to_apply=%add
  %n = f32[4]{0} negate(%p), control-predecessors={%r}, metadata={op_name="neg" source_line=3}
  ROOT %x = f32[4]{0} custom-call(%n, %r), custom_call_target="f", backend_config={"a":1,"b":{"c":"d"}}
}

)";

// Differences when `from` in the text is written as `to`.
std::vector<std::string> After(std::string_view from, std::string_view to) {
  std::string changed(kText);
  const size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  changed.replace(at, from.size(), to);
  return Differences(ParseModule(kText), ParseModule(changed));
}

TEST(Differences, NoneBetweenEqualPrograms) {
  EXPECT_THAT(Differences(ParseModule(kText), ParseModule(kText)), IsEmpty());
}

TEST(Differences, OrderOfComputationsAndKeysDoesNotMatter) {
  EXPECT_THAT(After(R"({"a":1,"b":{"c":"d"}})", R"({"b":{"c":"d"},"a":1})"), IsEmpty());
  const std::string other = "%b2 () -> f32[] {\n  ROOT %k = f32[] constant(1)\n}\n\n";
  const std::string text(kText);
  const size_t add = text.find("%add (");
  const size_t entry = text.find("ENTRY");
  EXPECT_THAT(Differences(ParseModule(std::string(text).insert(add, other)),
                          ParseModule(std::string(text).insert(entry, other))),
              IsEmpty());
}

TEST(Differences, AreNamed) {
  EXPECT_THAT(After("HloModule m", "HloModule n"), ElementsAre("the module's name differs"));
  EXPECT_THAT(After("->f32[4]{0}}", "->f32[5]{0}}"),
              ElementsAre("entry_computation_layout: results differ"));
  EXPECT_THAT(After("dimensions={0}", "dimensions={1}"),
              ElementsAre("`r` in `main`: dimensions differs: 0 and 1"));
  EXPECT_THAT(After("f32[4]{0} negate", "f32[4]{0:S(1)} negate"),
              ElementsAre("`n` in `main`: shapes differ: f32[4]{0} and f32[4]{0:S(1)}"));
  EXPECT_THAT(After("negate(%p)", "abs(%p)"),
              ElementsAre("`n` in `main`: opcodes differ: negate and abs"));
  EXPECT_THAT(After("add(%a, %b)", "add(%b, %a)"), ElementsAre("`c` in `add`: operands differ"));
  EXPECT_THAT(After("source_line=3", "source_line=4"),
              ElementsAre("`n` in `main`: source_line differs: 3 and 4"));
  EXPECT_THAT(After("op_name=\"neg\"", "op_name=\"x\""),
              ElementsAre("`n` in `main`: op_name differs: neg and x"));
  EXPECT_THAT(
      After("\"d\"", "\"e\""),
      ElementsAre(
          R"(`x` in `main`: backend_config differs: {"a":1,"b":{"c":"d"}} and {"a":1,"b":{"c":"e"}})"));
  EXPECT_THAT(After("constant(0)", "constant(1)"),
              ElementsAre("`zero` in `main`: literal differs: 0 and 1"));
  EXPECT_THAT(After(", control-predecessors={%r}", ""),
              ElementsAre("`n` in `main`: only the first has control-predecessors=r"));
  EXPECT_THAT(After("custom_call_target=\"f\"",
                    "custom_call_target=\"f\", custom_call_has_side_effect=true"),
              ElementsAre("`x` in `main`: only the second has custom_call_has_side_effect=1"));
}

TEST(Differences, ElidedLiteralsEqualAny) {
  EXPECT_THAT(After("constant(0)", "constant({...})"), IsEmpty());
}

TEST(Differences, SchedulesAreCompared) {
  EXPECT_THAT(After("  %p = f32[4]{0} parameter(0)\n  %zero = f32[] constant(0)\n",
                    "  %zero = f32[] constant(0)\n  %p = f32[4]{0} parameter(0)\n"),
              ElementsAre("computation `main`: schedules part at position 0: p and zero"));
}

TEST(Differences, MissingInstructionsAndComputations) {
  EXPECT_THAT(
      After("  %b = f32[] parameter(1)\n", "  %b = f32[] parameter(1)\n  %d = f32[] negate(%b)\n"),
      testing::Contains("`d` in `add`: only the second has it"));
  EXPECT_THAT(After("ENTRY", "%b2 () -> f32[] {\n  ROOT %k = f32[] constant(1)\n}\n\nENTRY"),
              ElementsAre("computation `b2`: only the second has it"));
}

TEST(Differences, TheListIsLimited) {
  EqualOptions options;
  options.limit = 1;
  EXPECT_EQ(Differences(ParseModule(kText),
                        ParseModule("ENTRY e {\n  ROOT p = f32[] parameter(0)\n}"), options)
                .size(),
            1U);
}

// `%w#1` is a get-tuple-element without a name.
TEST(Differences, LooksThroughHiddenTupleElements) {
  constexpr std::string_view kLong = R"(HloModule m, is_scheduled=true

ENTRY %main (w: (f32[4], s32[])) -> f32[4] {
  %w = (f32[4]{0}, s32[]) parameter(0)
  %gte.7 = f32[4]{0} get-tuple-element(%w), index=0
  ROOT %x = f32[4]{0} negate(%gte.7)
}

)";
  constexpr std::string_view kCompact = R"(HloModule m, is_scheduled=true

ENTRY %main (w: (f32[4], s32[])) -> f32[4] {
  %w = (f32[4]{0}, s32[]) parameter(0)
  ROOT %x = f32[4]{0} negate(%w#0)
}

)";
  EXPECT_THAT(Differences(ParseModule(kLong), ParseModule(kCompact)), IsEmpty());
  EXPECT_THAT(Differences(ParseModule(kCompact), ParseModule(kLong)), IsEmpty());
  std::string other(kLong);
  other.replace(other.find("f32[4]{0} get-tuple-element(%w), index=0"), 40,
                "s32[] get-tuple-element(%w), index=1 ");
  EXPECT_THAT(Differences(ParseModule(other), ParseModule(kCompact)),
              testing::Contains("`x` in `main`: operands differ"));
}

// The wrapper of an async operation has no name in the short form.
TEST(Differences, AsyncOperationsInTheirShortForm) {
  constexpr std::string_view kExplicit = R"(HloModule m

%wrapper (a: f32[4]) -> f32[2] {
  %a = f32[4]{0} parameter(0)
  ROOT %s = f32[2]{0} slice(%a), slice={[0:2]}
}

ENTRY %main (p: f32[4]) -> f32[2] {
  %p = f32[4]{0} parameter(0)
  %start = ((f32[4]{0}), f32[2]{0}, s32[]) async-start(%p), calls=%wrapper
  ROOT %done = f32[2]{0} async-done(%start)
}

)";
  constexpr std::string_view kShort = R"(HloModule m

ENTRY %main (p: f32[4]) -> f32[2] {
  %p = f32[4]{0} parameter(0)
  %start = ((f32[4]{0}), f32[2]{0}, s32[]) slice-start(%p), slice={[0:2]}
  ROOT %done = f32[2]{0} slice-done(%start)
}

)";
  EXPECT_THAT(Differences(ParseModule(kExplicit), ParseModule(kShort)), IsEmpty());
  EXPECT_THAT(Differences(ParseModule(kShort), ParseModule(kExplicit)), IsEmpty());
  std::string other(kShort);
  other.replace(other.find("[0:2]"), 5, "[1:3]");
  EXPECT_EQ(Differences(ParseModule(kExplicit), ParseModule(other)).size(), 1U);
}

}  // namespace
}  // namespace stowplan::hlo
