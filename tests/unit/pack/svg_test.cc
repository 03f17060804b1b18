// SPDX-License-Identifier: Apache-2.0
#include "pack/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowplan::pack {
namespace {

using testing::HasSubstr;
using testing::Not;

Table TableOf(std::string_view text, std::vector<Pool> pools = {}) {
  return *ReadTable(Source::FromBytes("p.csv", text), std::move(pools));
}

size_t CountOf(std::string_view word, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST(PackSvg, EachPieceIsARectangleThatSaysWhoItIs) {
  const Table table = TableOf("id,lower,upper,size,gaps\na,0,4,1024,1-2\nb,1,2,1024,\n");
  const std::string svg = DrawPlan(table, {.offsets = {0, 0}, .height = 1024});
  EXPECT_EQ(CountOf("<title>a: 1.0KiB (1024) at 0, [0, 4)</title>", svg), 2U);
  EXPECT_EQ(CountOf("<title>b: 1.0KiB (1024) at 0, [1, 2)</title>", svg), 1U);
  EXPECT_THAT(svg, HasSubstr(">1.0KiB</text>"));
}

TEST(PackSvg, IdsAreEscaped) {
  const Table table = TableOf("id,lower,upper,size\n<script>&\"\xff\xc3\xa9,0,4,4\n");
  const std::string svg = DrawPlan(table, {.offsets = {0}, .height = 4});
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;\xEF\xBF\xBD\xC3\xA9"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(PackSvg, EachPoolIsAPanel) {
  const Table table = TableOf("id,lower,upper,size\na,0,4,4\nb,0,4,4\n", {{"x<", 4}, {"y", 8}});
  const std::string svg = DrawPlan(table, {.offsets = {0, 0}, .pools = {0, 1}, .height = 4});
  EXPECT_EQ(CountOf("<g transform", svg), 2U);
  EXPECT_THAT(svg, HasSubstr("x&lt;: 4B of 4B, 1 buffers"));
}

TEST(PackSvg, NothingIsAPictureToo) {
  EXPECT_THAT(DrawPlan({}, {}), HasSubstr("</svg>"));
  const Table table = TableOf("id,lower,upper,size\na,-9223372036854775807,0,0\n");
  EXPECT_THAT(DrawPlan(table, {.offsets = {0}}), HasSubstr("</svg>"));
}

TEST(PackSvg, ManyBuffersStayASmallFile) {
  Table table;
  Plan plan;
  for (int64_t b = 0; b < 100000; ++b) {
    table.problem.buffers.push_back({.size = 1 + b % 7, .start = b, .end = b + 1 + b % 50});
    plan.offsets.push_back(b % 60 * 8);
  }
  plan.height = 59 * 8 + 7;
  const std::string svg = DrawPlan(table, plan);
  EXPECT_LT(svg.size(), 6U << 20U);
  EXPECT_EQ(svg, DrawPlan(table, plan));
}

}  // namespace
}  // namespace stowplan::pack
