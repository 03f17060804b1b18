// SPDX-License-Identifier: Apache-2.0
#include "oom/lines.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace stowplan::oom {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> AllOf(std::string_view text) {
  Lines lines(text);
  std::vector<std::string> all;
  while (const Line* line = lines.Next(true)) all.push_back(line->text);
  return all;
}

TEST(OomLines, PrefixesGo) {
  for (const std::string_view line :
       {"Size: 6.00MiB", "\t\tSize:   6.00MiB  ", "> > Size: 6.00MiB", "E       Size: 6.00MiB",
        "2026-03-04 10:11:12.345678: E external/xla/xla/pjrt/client.cc:12] Size: 6.00MiB",
        "2026-03-04 10:11:12.345678: E    1578 tensorflow/compiler/xla/util.cc:76]      Size: "
        "6.00MiB",
        "E0304 10:11:12.345678   2222 client.cc:359] Size: 6.00MiB",
        "(EngineCore pid=4711) ERROR 05-06 07:08:09 [core.py:1184]      Size: 6.00MiB",
        "(train pid=77, ip=10.0.0.1) Size: 6.00MiB", "[rank3]: Size: 6.00MiB",
        "[1,2]<stderr>:  Size: 6.00MiB", "2026-03-04T10:11:12.123Z stderr F Size: 6.00MiB",
        "worker-0  | Size: 6.00MiB", "17: Size: 6.00MiB", "ERROR:absl:Size: 6.00MiB",
        "\x1b[31mSize:\x1b[0m 6.00MiB\x1b[K",
        "# 2026-03-04 10:11:12.345678: W a.cc:1] Size: 6.00MiB"})
    EXPECT_EQ(CleanLine(line), "Size: 6.00MiB") << line;
  // What belongs to a line stays.
  for (const std::string_view line : {"1. Size: 2.00G", "Buffer 1:", "reserved 530.00M",
                                      "(0) Resource exhausted: no", "a | b | c d"})
    EXPECT_EQ(CleanLine(line), line);
}

TEST(OomLines, EndsOfLines) {
  EXPECT_THAT(AllOf("a\nb\r\nc\rd"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(AllOf(""), ElementsAre());
  EXPECT_THAT(AllOf("\n"), ElementsAre(""));
  EXPECT_THAT(AllOf("out of memory\\n\\tSize: 2B\\n\\\"x\\\""),
              ElementsAre("out of memory", "Size: 2B", "\"x\""));
  // Where no message begins, two characters are two characters.
  EXPECT_THAT(AllOf("Operator: op_name=\"f[ a\\n b]\""),
              ElementsAre("Operator: op_name=\"f[ a\\n b]\""));
  EXPECT_THAT(AllOf("allocate op_name=\"f[ a\\n b]\""),
              ElementsAre("allocate op_name=\"f[ a\\n b]\""));
}

TEST(OomLines, LongLinesComeInPieces) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "word ";
  text += "\nend";
  Lines lines(text);
  size_t words = 0;
  std::string last;
  int64_t number = 0;
  while (const Line* line = lines.Next(true)) {
    EXPECT_LE(line->text.size(), size_t{1} << 16);
    for (size_t at = line->text.find("word"); at != std::string::npos;
         at = line->text.find("word", at + 1))
      ++words;
    last = line->text;
    number = line->number;
  }
  EXPECT_EQ(words, 100'000U);
  EXPECT_EQ(last, "end");
  EXPECT_EQ(number, 2);
  EXPECT_EQ(lines.count(), 2);
}

}  // namespace
}  // namespace stowplan::oom
