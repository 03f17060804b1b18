// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/json_equal.h"
#include "base/json_writer.h"

namespace stowplan {
namespace {

TEST(JsonWriter, NestsAndSeparates) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("text", "a");
  json.Field("number", int64_t{-7});
  json.Field("flag", true);
  json.BeginArray("list");
  json.Value(int64_t{1});
  json.BeginObject();
  json.End();
  json.Value(0.5);
  json.End();
  json.BeginArray("empty");
  json.End();
  json.End();
  EXPECT_EQ(out,
            "{\n"
            "  \"text\": \"a\",\n"
            "  \"number\": -7,\n"
            "  \"flag\": true,\n"
            "  \"list\": [\n"
            "    1,\n"
            "    {},\n"
            "    0.5\n"
            "  ],\n"
            "  \"empty\": []\n"
            "}\n");
}

std::string Written(std::string_view text) {
  std::string out;
  JsonWriter(out).Value(text);
  return out;
}

TEST(JsonWriter, EscapesWhatItMust) {
  EXPECT_EQ(Written("a\"b\\c\n\t\r\x01\x7f"), R"("a\"b\\c\n\t\r\u0001\u007f")");
}

TEST(JsonWriter, KeepsUtf8AndReplacesWhatIsNot) {
  EXPECT_EQ(Written("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
  EXPECT_EQ(Written("\xff"), R"("\ufffd")");
  EXPECT_EQ(Written("\xc3"), R"("\ufffd")");
  EXPECT_EQ(Written("\xc0\xaf"), R"("\ufffd\ufffd")") << "overlong";
  EXPECT_EQ(Written("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "surrogate";
  EXPECT_EQ(Written("\xf5\x80\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "beyond Unicode";
}

TEST(JsonWriter, NumbersThatJsonHasNotAreNull) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  json.Value(std::numeric_limits<double>::infinity());
  json.Value(std::nan(""));
  json.End();
  EXPECT_EQ(out, "[\n  null,\n  null\n]\n");
}

TEST(SameJson, OrderOfKeysAndBlanksDoNotMatter) {
  EXPECT_TRUE(
      SameJson(R"({"a":1,"b":{"c":[1,2],"d":"x"}})", R"({ "b" : {"d":"x","c":[1, 2]}, "a":1 })"));
  EXPECT_TRUE(SameJson("not json", "not json"));
}

TEST(SameJson, ValuesAndStructureDo) {
  EXPECT_FALSE(SameJson(R"({"a":1})", R"({"a":2})"));
  EXPECT_FALSE(SameJson(R"({"a":[1,2]})", R"({"a":[2,1]})"));
  EXPECT_FALSE(SameJson(R"({"a":{}})", R"({"a":[]})"));
  EXPECT_FALSE(SameJson(R"({"a":{}})", R"({})"));
  EXPECT_FALSE(SameJson(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(SameJson(R"({"a":"1"})", R"({"a":1})"));
  EXPECT_FALSE(SameJson("{", "{ "));
  EXPECT_FALSE(SameJson(R"({"a)", R"({"b)"));
}

TEST(SameJson, StringsMayHoldAnything) {
  EXPECT_TRUE(SameJson(R"({"a":"},\"{","b":1})", R"({"b":1,"a":"},\"{"})"));
}

TEST(SameJson, DepthIsNoProblem) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_TRUE(SameJson(deep, deep));
  EXPECT_FALSE(SameJson(deep, " " + deep)) << "too deep to be looked at";
}

}  // namespace
}  // namespace stowplan
