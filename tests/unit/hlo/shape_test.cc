// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/shape.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

constexpr std::array<int64_t, 2> kDims = {2, 3};

TEST(Shape, EqualOnesAreOneRow) {
  ShapeTable shapes;
  const ShapeId a = shapes.AddArray(ElementType::kF32, kDims, {}, {});
  EXPECT_EQ(shapes.AddArray(ElementType::kF32, kDims, {}, {}), a);
  EXPECT_NE(shapes.AddArray(ElementType::kS32, kDims, {}, {}), a);
  EXPECT_NE(shapes.AddArray(ElementType::kF32, std::array<int64_t, 2>{3, 2}, {}, {}), a);
  EXPECT_NE(shapes.AddArray(ElementType::kF32, {}, {}, {}), a);
  const ShapeId pair = shapes.AddTuple(std::array{a, a});
  EXPECT_EQ(shapes.AddTuple(std::array{a, a}), pair);
  EXPECT_NE(shapes.AddTuple(std::array{a}), pair);
  EXPECT_NE(shapes.AddBuffer(a), shapes.AddTuple(std::array{a}));
  EXPECT_EQ(shapes.AddOther(ElementType::kToken), shapes.AddOther(ElementType::kToken));
  EXPECT_NE(shapes.AddOther(ElementType::kToken), shapes.AddOther(ElementType::kOpaque));
  EXPECT_NE(shapes.AddTuple({}), shapes.AddOther(ElementType::kToken));
}

TEST(Shape, DynamicDimensionsMakeADifference) {
  ShapeTable shapes;
  const std::array<bool, 2> first = {true, false};
  const std::array<bool, 2> second = {false, true};
  const std::array<bool, 2> none = {false, false};
  const ShapeId fixed = shapes.AddArray(ElementType::kF32, kDims, {}, {});
  const ShapeId a = shapes.AddArray(ElementType::kF32, kDims, first, {});
  const ShapeId b = shapes.AddArray(ElementType::kF32, kDims, second, {});
  EXPECT_NE(fixed, a);
  EXPECT_NE(a, b);
  EXPECT_EQ(shapes.AddArray(ElementType::kF32, kDims, first, {}), a);
  EXPECT_EQ(shapes.AddArray(ElementType::kF32, kDims, none, {}), fixed);
  EXPECT_TRUE(shapes.is_dynamic(a, 0));
  EXPECT_FALSE(shapes.is_dynamic(a, 1));
  EXPECT_FALSE(shapes.is_dynamic(fixed, 0));
  EXPECT_EQ(ToString(shapes, a), "f32[<=2,3]");
  EXPECT_EQ(ToString(shapes, b), "f32[2,<=3]");
}

TEST(Shape, AnEmptyLayoutOfAScalarIsNone) {
  ShapeTable shapes;
  const ShapeId with = shapes.AddArray(ElementType::kF32, {}, {}, shapes.AddLayout({}));
  EXPECT_EQ(with, shapes.AddArray(ElementType::kF32, {}, {}, {}));
  Layout tiled;
  tiled.tiles = {{128}};
  EXPECT_NE(with, shapes.AddArray(ElementType::kF32, {}, {}, shapes.AddLayout(tiled)));
  // An array of dimensions must say their order.
  Layout order;
  order.minor_to_major = {1, 0};
  const LayoutId row_major = shapes.AddLayout(order);
  EXPECT_EQ(shapes.AddLayout(order), row_major);
  EXPECT_NE(shapes.AddArray(ElementType::kF32, kDims, {}, row_major),
            shapes.AddArray(ElementType::kF32, kDims, {}, {}));
}

TEST(Shape, PartsOfAShape) {
  ShapeTable shapes;
  const ShapeId a = shapes.AddArray(ElementType::kF32, kDims, {}, {});
  const ShapeId token = shapes.AddOther(ElementType::kToken);
  const ShapeId tuple = shapes.AddTuple(std::array{a, token});
  const ShapeId buffer = shapes.AddBuffer(a);
  EXPECT_EQ(std::vector(shapes.dims(a).begin(), shapes.dims(a).end()),
            std::vector(kDims.begin(), kDims.end()));
  EXPECT_TRUE(shapes.dims(tuple).empty());
  EXPECT_TRUE(shapes.dims(token).empty());
  EXPECT_TRUE(shapes.elements(a).empty());
  EXPECT_TRUE(shapes.elements(token).empty());
  ASSERT_EQ(shapes.elements(tuple).size(), 2U);
  EXPECT_EQ(shapes.elements(tuple)[1], token);
  ASSERT_EQ(shapes.elements(buffer).size(), 1U);
  EXPECT_EQ(shapes.elements(buffer)[0], a);
  EXPECT_TRUE(shapes.is_tuple(tuple));
  EXPECT_FALSE(shapes.is_tuple(buffer));
  EXPECT_EQ(shapes.depth(a), 0);
  EXPECT_EQ(shapes.depth(tuple), 1);
  EXPECT_EQ(shapes.depth(shapes.AddTuple(std::array{a, tuple})), 2);
}

TEST(Shape, ManyShapesStayFindable) {
  ShapeTable shapes;
  std::vector<ShapeId> ids;
  for (int64_t i = 0; i < 5000; ++i) {
    const std::array dims = {i, i % 7};
    ids.push_back(shapes.AddArray(ElementType::kF32, dims, {}, {}));
  }
  EXPECT_EQ(shapes.size(), 5000U);
  for (int64_t i = 0; i < 5000; ++i) {
    const std::array dims = {i, i % 7};
    EXPECT_EQ(shapes.AddArray(ElementType::kF32, dims, {}, {}), ids[static_cast<size_t>(i)]);
  }
}

TEST(Shape, EqualityBetweenTables) {
  ShapeTable one;
  ShapeTable two;
  two.AddOther(ElementType::kToken);  // so that ids differ
  Layout layout;
  layout.minor_to_major = {1, 0};
  const auto make = [&](ShapeTable& shapes, bool with_layout) {
    const LayoutId id = with_layout ? shapes.AddLayout(layout) : LayoutId();
    const ShapeId array = shapes.AddArray(ElementType::kF32, kDims, {}, id);
    return shapes.AddTuple(std::array{array, shapes.AddBuffer(array)});
  };
  EXPECT_TRUE(Equal(one, make(one, true), two, make(two, true)));
  EXPECT_FALSE(Equal(one, make(one, true), two, make(two, false)));
  EXPECT_TRUE(Equal(one, make(one, true), two, make(two, false), /*layouts=*/false));
  EXPECT_FALSE(Equal(one, make(one, true), two, two.AddTuple({})));
}

// Each level holds the one below twice: 2^60 leaves in a few rows.
TEST(Shape, SharedPartsAreComparedOnce) {
  const auto make = [](ShapeTable& shapes, ElementType type) {
    ShapeId id = shapes.AddArray(type, kDims, {}, {});
    for (int i = 0; i < 60; ++i) id = shapes.AddTuple(std::array{id, id});
    return id;
  };
  ShapeTable one;
  ShapeTable two;
  const ShapeId a = make(one, ElementType::kF32);
  EXPECT_TRUE(Equal(one, a, two, make(two, ElementType::kF32)));
  EXPECT_FALSE(Equal(one, a, two, make(two, ElementType::kS32)));
}

TEST(Shape, Styles) {
  ShapeTable shapes;
  Layout layout;
  layout.minor_to_major = {1, 0};
  layout.tiles = {{8, 128}, {2, 1}};
  layout.memory_space = 5;
  const ShapeId a = shapes.AddArray(ElementType::kBf16, kDims, {}, shapes.AddLayout(layout));
  const ShapeId tuple = shapes.AddTuple(std::vector<ShapeId>(7, a));
  EXPECT_EQ(ToString(shapes, a), "bf16[2,3]{1,0:T(8,128)(2,1)S(5)}");
  EXPECT_EQ(ToString(shapes, tuple, {.layouts = false}),
            "(bf16[2,3], bf16[2,3], bf16[2,3], bf16[2,3], bf16[2,3], /*index=5*/bf16[2,3], "
            "bf16[2,3])");
  EXPECT_EQ(ToString(shapes, tuple, {.layouts = false, .index_comments = false}),
            "(bf16[2,3], bf16[2,3], bf16[2,3], bf16[2,3], bf16[2,3], bf16[2,3], bf16[2,3])");
}

}  // namespace
}  // namespace stowplan::hlo
