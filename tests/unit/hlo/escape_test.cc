// SPDX-License-Identifier: Apache-2.0
#include "hlo/escape.h"

#include <optional>

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

using namespace std::string_view_literals;

std::string Escaped(std::string_view text) {
  std::string out;
  AppendEscaped(text, out);
  return out;
}

std::optional<std::string> Unescaped(std::string_view text) {
  std::string out;
  if (!AppendUnescaped(text, out)) return std::nullopt;
  return out;
}

TEST(Escape, AsXlaEscapes) {
  EXPECT_EQ(Escaped(""), "");
  EXPECT_EQ(Escaped("plain ~ text"), "plain ~ text");
  EXPECT_EQ(Escaped("\n\r\t\"'\\"), R"(\n\r\t\"\'\\)");
  EXPECT_EQ(Escaped("\0\x01\x1f\x7f\x80\xff"sv), R"(\000\001\037\177\200\377)");
  EXPECT_EQ(Escaped("caf\xc3\xa9"), R"(caf\303\251)");
}

TEST(Escape, EveryByteComesBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(Unescaped(Escaped(all)), all);
  // Digits behind an escape do not join it.
  EXPECT_EQ(Unescaped(Escaped("\x01"
                              "7")),
            "\x01"
            "7");
}

TEST(Escape, OtherEscapesAreRead) {
  EXPECT_EQ(Unescaped(R"(\a\b\f\v\?)"), "\a\b\f\v?");
  EXPECT_EQ(Unescaped(R"(\x41\x4)"), "A\x04");
  EXPECT_EQ(Unescaped(R"(\X41)"), "A");
  EXPECT_EQ(Unescaped(R"(\0\12\1234)"),
            "\0\n"
            "S4"sv);
  EXPECT_EQ(Unescaped(R"(\377)"), "\xff");
}

TEST(Escape, MalformedOnesAreNot) {
  for (const char* text : {R"(\)", R"(a\)", R"(\q)", R"(\x)", R"(\xg)", R"(\400)", R"(\x100)"}) {
    EXPECT_EQ(Unescaped(text), std::nullopt) << text;
  }
}

TEST(Escape, JsonDictionaries) {
  EXPECT_EQ(JsonDictionaryLength("{}"), 2U);
  EXPECT_EQ(JsonDictionaryLength("{}, {}"), 2U);
  EXPECT_EQ(JsonDictionaryLength(R"({"a":{"b":1}} x)"), 13U);
  EXPECT_EQ(JsonDictionaryLength(R"({"}":"\"}"})"), 11U);
  EXPECT_EQ(JsonDictionaryLength("{[}"), 3U);  // only braces count
  for (const char* text : {"", "a", " {}", "{", "{{}", R"({"})", R"({"\"})"}) {
    EXPECT_EQ(JsonDictionaryLength(text), 0U) << text;
  }
  EXPECT_EQ(JsonDictionaryLength("{\0}"sv), 0U);
}

TEST(Escape, AllOfATextIsADictionary) {
  for (const char* text : {"{}", " {} ", "\n{\"a\":1}\t\r\n"}) {
    EXPECT_TRUE(IsJsonDictionary(text)) << text;
  }
  for (const char* text : {"", " ", "{} {}", "{}x", "x{}", "[]", "\"{}\""}) {
    EXPECT_FALSE(IsJsonDictionary(text)) << text;
  }
}

}  // namespace
}  // namespace stowplan::hlo
