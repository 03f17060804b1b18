// SPDX-License-Identifier: Apache-2.0
// Broken files: cut short, with wrong bytes, or of random bytes.
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "property/survival.h"

namespace stowplan {
namespace {

using namespace std::string_view_literals;

TEST(Corruption, TextsCutShort) {
  for (const auto& [name, text] : FilesIn("fuzz/seeds/fuzz_text")) {
    ExpectSurvivesTruncation(ParseText, name, text);
  }
}

TEST(Corruption, TextsWithAWrongByte) {
  for (const auto& [name, text] : FilesIn("fuzz/seeds/fuzz_text")) {
    ExpectSurvivesCorruption(ParseText, name, text, "\0\"{}"sv);
  }
}

TEST(Corruption, ProtosCutShort) {
  for (const auto& [name, bytes] : FilesIn("fuzz/seeds/fuzz_proto")) {
    ExpectSurvivesTruncation(ParseProto, name, bytes);
  }
}

TEST(Corruption, ProtosWithAWrongByte) {
  for (const auto& [name, bytes] : FilesIn("fuzz/seeds/fuzz_proto")) {
    ExpectSurvivesCorruption(ParseProto, name, bytes, "\0\x7f\xff"sv);
  }
}

// A cut text is an error wherever it is cut, unless all computations are there.
TEST(Corruption, CutTextsAreErrors) {
  const std::string text =
      "HloModule m\n\nENTRY %e (a: f32[2]) -> f32[2] {\n  %a = f32[2]{0} parameter(0)\n"
      "  ROOT %b = f32[2]{0} negate(%a), metadata={op_name=\"n\"}\n}\n\n";
  for (size_t size = 0; size < text.find('}', text.find("op_name")) + 2; ++size) {
    const auto module = ParseText(Source::FromBytes("cut", text.substr(0, size)));
    EXPECT_FALSE(module) << text.substr(0, size);
  }
}

TEST(Corruption, RandomBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 600, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ExpectSurvives(ParseText, bytes, "random bytes");
    ExpectSurvives(ParseProto, bytes, "random bytes");
  }
}

TEST(Corruption, RandomTokens) {
  constexpr std::string_view kTokens[] = {
      "HloModule",
      " m",
      "ENTRY ",
      "%e",
      " {",
      "}",
      "\n",
      " = ",
      "f32[2]{0}",
      "f32[",
      "]",
      "(",
      ")",
      ", ",
      "ROOT ",
      "parameter",
      "(0)",
      "constant(1)",
      "add(%a, %b)",
      "%a",
      "metadata={",
      "op_name=",
      "\"x\"",
      "sharding={",
      "replicated",
      "devices=[2]",
      "<=[2]",
      "{1,0}",
      "to_apply=",
      "to_apply={",
      "#0",
      "/*",
      "*/",
      "//",
      "...",
      "{...}",
      "slice-start(",
      "while(",
      "condition=%e",
      "body=%e",
      "window={",
      "size=3x3",
      "\\",
      "\"",
      "'",
      "backend_config={",
      "calls=",
      "dimensions={",
      "9999999999999999999",
      "-1",
      "token[]",
      "()",
      "b(",
      "T(8,128)",
  };
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string text = i % 2 == 0 ? "HloModule m\nENTRY %e {\n  %a = f32[2]{0} " : "";
    const size_t count = random() % 60;
    for (size_t k = 0; k < count; ++k) text += kTokens[random() % std::size(kTokens)];
    ExpectSurvives(ParseText, text, text);
  }
}

}  // namespace
}  // namespace stowplan
