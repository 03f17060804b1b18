// SPDX-License-Identifier: Apache-2.0
#include "target/size.h"

#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "text/shape_parser.h"

namespace stowplan {
namespace {

ByteCount SizeOf(std::string_view text, std::string_view target) {
  hlo::ShapeTable shapes;
  const auto id = text::ParseShapeText(text, shapes);
  EXPECT_TRUE(id.has_value()) << text;
  return id ? ByteSize(shapes, *id, *FindTarget(target)) : std::unexpected(SizeError::kMalformed);
}

ByteCount PlainSizeOf(std::string_view text) {
  hlo::ShapeTable shapes;
  const auto id = text::ParseShapeText(text, shapes);
  EXPECT_TRUE(id.has_value()) << text;
  return id ? PlainByteSize(shapes, *id) : std::unexpected(SizeError::kMalformed);
}

ByteCount Error(SizeError error) { return std::unexpected(error); }

TEST(Targets, AreFoundByName) {
  EXPECT_EQ(Targets().size(), 9U);
  for (const Target& target : Targets()) EXPECT_EQ(FindTarget(target.name), target);
  EXPECT_EQ(FindTarget("tpu"), std::nullopt);
}

struct Row {
  std::string_view shape;
  int64_t bytes;
};

TEST(ByteSize, OnCpuAndGpu) {
  constexpr std::array kRows = {
      Row{"f32[]", 4},
      Row{"f32[2,3]{1,0}", 24},
      Row{"f32[2,3]", 24},
      Row{"pred[5]{0}", 5},
      Row{"bf16[3]{0}", 6},
      Row{"f8e4m3fn[3]{0}", 3},
      Row{"s64[2]{0}", 16},
      Row{"c64[2]{0}", 16},
      Row{"c128[2]{0}", 32},
      Row{"f32[0,7]{1,0}", 0},
      Row{"token[]", 0},
      Row{"opaque[]", 8},
      Row{"()", 0},
      Row{"(f32[100]{0}, s32[], token[])", 24},
      Row{"((f32[100]{0}, s32[]), token[])", 16},
      // A byte an element, unless the layout packs them.
      Row{"s4[7]{0}", 7},
      Row{"s4[7]{0:E(4)}", 4},
      Row{"u2[9]{0:E(2)}", 3},
      Row{"f4e2m1fn[8]{0}", 8},
      Row{"f6e3m2fn[8]{0}", 8},
      // Tiles take no room.
      Row{"f32[3,5]{1,0:T(8,128)}", 60},
      // Four bytes for the size of each dimension.
      Row{"f32[<=10]{0}", 44},
      Row{"f32[<=10,3]{1,0}", 128},
      Row{"f32[<=0,3]{1,0}", 8},
      Row{"(f32[<=10]{0})", 8},
      Row{"b(f32[10]{0})", 40},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(SizeOf(row.shape, "cpu"), row.bytes) << row.shape;
    EXPECT_EQ(SizeOf(row.shape, "gpu"), row.bytes) << row.shape;
  }
}

// Sizes that libtpu gave these shapes.
TEST(ByteSize, OnTpu) {
  constexpr std::array kRows = {
      Row{"f32[16,24,8]{1,2,0:T(8,128)}", 65536},
      Row{"f32[384,4]{0,1:T(4,128)}", 6144},
      Row{"pred[32,513]{0,1:T(8,128)(4,1)}", 66560},
      Row{"f32[4,4099,5120]{2,0,1:T(4,128)}", 335790080},
      Row{"bf16[8,16,24]{2,1,0:T(8,128)(2,1)S(1)}", 32768},
      Row{"bf16[384,8]{1,0:T(8,128)(2,1)S(1)}", 98304},
      Row{"s4[17,33]{1,0:T(8,128)(8,1)E(4)}", 1536},
      Row{"f32[1000000]{0:T(1024)}", 4001792},
      // Scalars.
      Row{"f32[]{:T(128)}", 512},
      Row{"bf16[]{:T(256)}", 512},
      Row{"pred[]{:T(512)}", 512},
      // Without tiles, in HBM and scalar memory.
      Row{"f32[]", 4096},
      Row{"bf16[]", 2048},
      Row{"pred[]{:S(6)}", 1024},
      // Semaphores.
      Row{"u32[]{:S(2)}", 4},
      Row{"u32[]{:T(128)S(2)}", 4},
      // Sizes of dynamic dimensions lie in front, in M bytes.
      Row{"f32[<=300,20]{0,1:T(8,128)M(1024)}", 36864 + 1024},
      Row{"f32[0]{0}", 0},
      Row{"f32[0,5]{1,0:T(8,128)}", 0},
      Row{"token[]", 0},
  };
  for (const Row& row : kRows) EXPECT_EQ(SizeOf(row.shape, "tpu-v5e"), row.bytes) << row.shape;
}

// Of an array that two cores share, the larger part.
TEST(ByteSize, OfSplitArrays) {
  EXPECT_EQ(SizeOf("f32[64,64]{1,0:T(8,128)S(1)SC(0:32)}", "tpu-v5p"), 32 * 128 * 4);
  EXPECT_EQ(SizeOf("f32[60,60]{1,0:T(8,128)S(1)SC(0:32)}", "tpu-v5p"), 32 * 128 * 4);
  EXPECT_EQ(SizeOf("f32[60,60]{1,0:T(8,128)S(1)SC(0:8)}", "tpu-v5p"), 56 * 128 * 4);
  EXPECT_EQ(SizeOf("f32[64,64]{1,0:T(8,128)S(1)SC(0:64)}", "tpu-v5p"), 64 * 128 * 4);
}

TEST(ByteSize, TupleTablesDifferByGeneration) {
  const std::string_view thirteen =
      "(s32[], s32[], s32[], s32[], s32[], s32[], s32[], s32[], s32[], s32[], s32[], s32[], s32[])";
  EXPECT_EQ(SizeOf(thirteen, "cpu"), 104);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v2"), 1024);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v3"), 1024);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v4"), 512);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v5e"), 512);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v5p"), 64);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v6e"), 64);
  EXPECT_EQ(SizeOf(thirteen, "tpu-v7x"), 64);
  EXPECT_EQ(SizeOf("()", "tpu-v5e"), 0);
  EXPECT_EQ(SizeOf("()", "tpu-v7x"), 0);
}

TEST(ByteSize, TailPaddingAndMergedDimensions) {
  EXPECT_EQ(SizeOf("f32[5]{0:T(4)L(16)}", "tpu-v5e"), 512);
  EXPECT_EQ(SizeOf("f32[1025]{0:T(128)L(4096)}", "tpu-v5e"), 4096 * 4);
  // The two dimensions are tiled as one of 30: four tiles of eight, not three times two.
  EXPECT_EQ(SizeOf("f32[3,10]{1,0:T(*,512)}", "tpu-v5e"), 512 * 4);
  EXPECT_EQ(SizeOf("f32[3,10]{1,0:T(1,512)}", "tpu-v5e"), 3 * 512 * 4);
}

TEST(ByteSize, WhatDoesNotFitIsAnError) {
  EXPECT_EQ(SizeOf("f32[4611686018427387904,4]{1,0}", "cpu"), Error(SizeError::kOverflow));
  EXPECT_EQ(SizeOf("s8[9223372036854775807]{0}", "cpu"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(SizeOf("s16[9223372036854775807]{0}", "cpu"), Error(SizeError::kOverflow));
  EXPECT_EQ(SizeOf("s4[9223372036854775807]{0:E(4)}", "cpu"), Error(SizeError::kOverflow));
  EXPECT_EQ(SizeOf("s8[9223372036854775807]{0:T(128)}", "tpu-v5e"), Error(SizeError::kOverflow));
  EXPECT_EQ(SizeOf("s8[9223372036854775807]{0:T(128)}", "cpu"),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(SizeOf("s8[9223372036854775807]{0}", "tpu-v5e"), Error(SizeError::kOverflow));
  EXPECT_EQ(SizeOf("s8[9223372036854775807,0]{1,0}", "tpu-v5e"), 0);
  EXPECT_EQ(SizeOf("f32[?,3]{1,0}", "cpu"), Error(SizeError::kUnbounded));
  EXPECT_EQ(SizeOf("f32[?,0]{1,0}", "cpu"), Error(SizeError::kUnbounded));
}

// Readers reject these; a program that builds its own module may not.
TEST(ByteSize, LayoutsThatDoNotFitAreAnError) {
  hlo::ShapeTable shapes;
  const std::array<int64_t, 2> dims = {3, 5};
  const auto size = [&](std::vector<int64_t> order, std::vector<int64_t> tile, int64_t bits = 0) {
    hlo::Layout layout;
    layout.minor_to_major = std::move(order);
    layout.tiles = {std::move(tile)};
    layout.element_bits = bits;
    return ByteSize(shapes,
                    shapes.AddArray(hlo::ElementType::kF32, dims, {}, shapes.AddLayout(layout)),
                    *FindTarget("tpu-v5e"));
  };
  EXPECT_EQ(size({1, 0}, {8, 128}), 8 * 128 * 4);
  EXPECT_EQ(size({1}, {8, 128}), Error(SizeError::kMalformed));
  EXPECT_EQ(size({1, 1}, {8, 128}), Error(SizeError::kMalformed));
  EXPECT_EQ(size({1, 7}, {8, 128}), Error(SizeError::kMalformed));
  EXPECT_EQ(size({1, 0}, {8, 0}), Error(SizeError::kMalformed));
  EXPECT_EQ(size({1, 0}, {8, -5}), Error(SizeError::kMalformed));
  EXPECT_EQ(size({1, 0}, {8, 128}, -1), Error(SizeError::kMalformed));
}

TEST(PlainByteSize, IgnoresWhatTargetsAdd) {
  EXPECT_EQ(PlainSizeOf("f32[<=10,3]{1,0}"), 120);
  EXPECT_EQ(PlainSizeOf("f32[16,24,8]{1,2,0:T(8,128)}"), 12288);
  EXPECT_EQ(PlainSizeOf("s4[17,33]{1,0:T(8,128)(8,1)E(4)}"), 281);
  EXPECT_EQ(PlainSizeOf("s4[17,33]{1,0}"), 561);
  EXPECT_EQ(PlainSizeOf("(f32[2]{0}, (s32[], s32[]))"), 16);
  EXPECT_EQ(PlainSizeOf("token[]"), 0);
  EXPECT_EQ(PlainSizeOf("opaque[]"), 8);
}

// The depth that readers allow, and deeper than any stack would.
TEST(ByteSize, DeepTuplesTakeNoTime) {
  hlo::ShapeTable shapes;
  hlo::ShapeId id = shapes.AddOther(hlo::ElementType::kToken);
  for (int i = 0; i < 1'000'000; ++i) id = shapes.AddTuple({&id, 1});
  EXPECT_EQ(ByteSize(shapes, id, *FindTarget("cpu")), 8);
  EXPECT_EQ(PlainByteSize(shapes, id), 8);
}

}  // namespace
}  // namespace stowplan
