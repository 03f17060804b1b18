// SPDX-License-Identifier: Apache-2.0
#include "oom/tiles.h"

#include <gmock/gmock.h>

namespace stowplan::oom {
namespace {

using ::testing::ElementsAre;

TEST(OomTiles, Shapes) {
  const auto shape = ParseShape("bf16[4,512,64]{2,0,1:T(8,128)(2,1)}");
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->type, "bf16");
  EXPECT_THAT(shape->dimensions, ElementsAre(4, 512, 64));
  EXPECT_THAT(shape->minor_to_major, ElementsAre(2, 0, 1));
  EXPECT_THAT(shape->tile, ElementsAre(8, 128));
  EXPECT_TRUE(ParseShape("f32[]")->dimensions.empty());
  EXPECT_TRUE(ParseShape("f32[8]{0:T(1024)}")->tile.size() == 1);
  // A layout that is none is left out.
  EXPECT_TRUE(ParseShape("f32[8,2]{0,0}")->minor_to_major.empty());
  EXPECT_TRUE(ParseShape("f32[8,2]{0,7:T(0,0)}")->tile.empty());
  for (const std::string_view text :
       {"", "(f32[2])", "f32", "f32[x]", "f32[2", "f32[99999999999999999999]"})
    EXPECT_FALSE(ParseShape(text).has_value()) << text;
}

TEST(OomTiles, Waste) {
  EXPECT_EQ(WasteWords(*ParseShape("f32[1000,3]{1,0:T(8,128)}")),
            "dimension 1 has 3 elements and takes 128");
  EXPECT_EQ(WasteWords(*ParseShape("f32[9,3]{1,0:T(8,128)}")),
            "dimension 1 has 3 elements and takes 128, dimension 0 has 9 elements and takes 16");
  EXPECT_EQ(WasteWords(*ParseShape("f32[16,256]{1,0:T(8,128)}")), "");
  EXPECT_EQ(WasteWords(*ParseShape("f32[9,3]{1,0}")), "");
}

TEST(OomTiles, CheaperOrder) {
  const auto order = FindCheaperOrder(*ParseShape("f32[1024,8]{1,0:T(8,128)}"));
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->minor, 0);
  EXPECT_EQ(order->second, 1);
  EXPECT_DOUBLE_EQ(order->factor, 1.0 / 16);
  EXPECT_FALSE(FindCheaperOrder(*ParseShape("f32[1024,128]{1,0:T(8,128)}")).has_value());
  EXPECT_FALSE(FindCheaperOrder(*ParseShape("f32[7]{0:T(8,128)}")).has_value());
  EXPECT_FALSE(FindCheaperOrder(*ParseShape("f32[0,3]{1,0:T(8,128)}")).has_value());
}

}  // namespace
}  // namespace stowplan::oom
