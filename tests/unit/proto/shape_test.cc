// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"
#include "unit/proto/read_proto.h"

namespace stowplan::proto::test {
namespace {

using hlo::ElementType;

// The text of a shape, by way of a parameter.
std::string ShapeText(const std::string& shape) {
  const hlo::Module module = MustRead(One(Parameter("p", shape, 1, 0)));
  if (module.instructions.empty()) return {};
  return hlo::ToString(module.shapes, module.instructions[hlo::InstrId(0)].shape);
}
std::string ShapeErrors(const std::string& shape) {
  return Errors(One(Parameter("p", shape, 1, 0)));
}

std::string Shape(ElementType type, const std::function<void(Writer<ShapeField>&)>& fill) {
  return Bytes<ShapeField>([&](auto& writer) {
    writer.add_enum(ShapeField::kElementType, static_cast<int32_t>(type));
    fill(writer);
  });
}
std::string WithLayout(const Ints& dims, const std::function<void(Writer<LayoutField>&)>& fill) {
  return Shape(ElementType::kF32, [&](auto& writer) {
    AddInts(writer, ShapeField::kDimensions, dims);
    writer.add_message(ShapeField::kLayout, Bytes<LayoutField>(fill));
  });
}
std::string TileBytes(const Ints& dims) {
  return Bytes<TileField>([&](auto& writer) { AddInts(writer, TileField::kDimensions, dims); });
}

TEST(ProtoShape, Arrays) {
  EXPECT_EQ(ShapeText(F32({})), "f32[]");
  EXPECT_EQ(ShapeText(F32({2, 3})), "f32[2,3]{1,0}");
  EXPECT_EQ(ShapeText(Shape(ElementType::kS4,
                            [](auto& writer) { writer.add_int64(ShapeField::kDimensions, 7); })),
            "s4[7]");
}

// An empty layout on a scalar says nothing.
TEST(ProtoShape, ScalarWithAndWithoutLayout) {
  const hlo::Module module = MustRead(
      One({"x", "tuple", Tuple({F32({}), Shape(ElementType::kF32, [](auto&) {})}), 1, {}, {}}));
  const auto elements = module.shapes.elements(module.instructions[hlo::InstrId(0)].shape);
  ASSERT_EQ(elements.size(), 2U);
  EXPECT_EQ(elements[0], elements[1]);
}

TEST(ProtoShape, Layouts) {
  EXPECT_EQ(
      ShapeText(WithLayout({8, 9},
                           [](auto& layout) {
                             AddInts(layout, LayoutField::kMinorToMajor, {0, 1});
                             layout.add_message(LayoutField::kTiles, TileBytes({8, 128}));
                             layout.add_message(LayoutField::kTiles, TileBytes({2, 1}));
                             layout.add_int64(LayoutField::kElementSizeInBits, 4);
                             layout.add_int64(LayoutField::kMemorySpace, 1);
                             layout.add_int64(LayoutField::kTailPaddingAlignmentInElements, 16);
                             layout.add_int64(LayoutField::kDynamicShapeMetadataPrefixBytes, 1024);
                           })),
      "f32[8,9]{0,1:T(8,128)(2,1)L(16)E(4)S(1)M(1024)}");
  EXPECT_EQ(
      ShapeText(WithLayout(
          {}, [](auto& layout) { layout.add_message(LayoutField::kTiles, TileBytes({128})); })),
      "f32[]{:T(128)}");
  EXPECT_EQ(ShapeText(WithLayout({4},
                                 [](auto& layout) {
                                   AddInts(layout, LayoutField::kMinorToMajor, {0});
                                   layout.add_message(LayoutField::kPhysicalShape, F32({4}));
                                   layout.add_enum(LayoutField::kIndexPrimitiveType, 8);
                                   layout.add_enum(LayoutField::kPointerPrimitiveType, 8);
                                   layout.add_message(
                                       LayoutField::kSplitConfigs,
                                       Bytes<SplitConfigField>([](auto& s) {
                                         s.add_int64(SplitConfigField::kDimension, 0);
                                         AddInts(s, SplitConfigField::kSplitIndices, {2, 3});
                                       }));
                                 })),
            "f32[4]{0:#(u32)*(u32)SC(0:2,3)P(f32[4]{0})}");
}

TEST(ProtoShape, DynamicDimensions) {
  EXPECT_EQ(ShapeText(Shape(ElementType::kF32,
                            [](auto& writer) {
                              AddInts(writer, ShapeField::kDimensions, {5, INT64_MIN, 2});
                              const std::vector<uint32_t> flags = {1, 1, 0};
                              writer.add_packed_uint32(ShapeField::kIsDynamicDimension,
                                                       flags.begin(), flags.end());
                            })),
            "f32[<=5,?,2]");
}

TEST(ProtoShape, TuplesTokensBuffers) {
  const std::string token = Shape(ElementType::kToken, [](auto&) {});
  EXPECT_EQ(ShapeText(Tuple({})), "()");
  EXPECT_EQ(ShapeText(Tuple({F32({2}), Tuple({token, F32({})}), F32({2})})),
            "(f32[2]{0}, (token[], f32[]), f32[2]{0})");
  EXPECT_EQ(ShapeText(Shape(ElementType::kOpaque, [](auto&) {})), "opaque[]");
  EXPECT_EQ(ShapeText(Shape(
                ElementType::kBuffer,
                [](auto& writer) { writer.add_message(ShapeField::kTupleShapes, F32({3})); })),
            "b(f32[3]{0})");
}

TEST(ProtoShape, DeepTuples) {
  std::string shape = F32({});
  for (int i = 0; i < hlo::ShapeTable::kMaxDepth - 1; ++i) shape = Tuple({shape});
  EXPECT_EQ(ShapeErrors(shape), "");
  for (int i = 0; i < 10; ++i) shape = Tuple({shape});
  EXPECT_NE(ShapeErrors(shape).find("tuples nest more than 2000 deep"), std::string::npos);
}

TEST(ProtoShape, Errors) {
  const std::string path = "computations[0].instructions[0].shape";
  EXPECT_EQ(ShapeErrors(Shape(static_cast<ElementType>(99), [](auto&) {})),
            path + ": unknown element type 99\n");
  EXPECT_EQ(ShapeErrors(F32({3, -2})), path + ": dimension 1 has the negative size -2\n");
  EXPECT_EQ(ShapeErrors(WithLayout({3}, [](auto&) {})),
            path + ".layout: the layout orders 0 dimensions, but the shape has 1\n");
  EXPECT_EQ(ShapeErrors(WithLayout(
                {3, 4}, [](auto& layout) { AddInts(layout, LayoutField::kMinorToMajor, {1, 1}); })),
            path + ".layout: minor_to_major is not a permutation of the dimensions\n");
  EXPECT_EQ(ShapeErrors(Shape(ElementType::kBuffer, [](auto&) {})),
            path + ": a buffer has one inner shape, not 0\n");
}

}  // namespace
}  // namespace stowplan::proto::test
