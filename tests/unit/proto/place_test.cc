// SPDX-License-Identifier: Apache-2.0
#include "proto/place.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/proto/proto_bytes.h"

namespace stowplan::proto::test {
namespace {

std::string Wrapped() {
  return Bytes<HloProtoField>([&](auto& writer) {
    writer.add_message(HloProtoField::kHloModule,
                       Module({Example(), {"other", 8, 3, Example().instructions, {}}}));
  });
}

TEST(PathAt, NamesTheFields) {
  const std::string bytes = Wrapped();
  const auto path = [&](std::string_view text, size_t from = 0) {
    return PathAt(bytes, MessageKind::kHloProto, bytes.find(text, from));
  };
  EXPECT_EQ(path("main"), "hlo_module.computations[0].name");
  EXPECT_EQ(path("multiply"), "hlo_module.computations[0].instructions[2].opcode");
  const size_t other = bytes.find("other");
  EXPECT_EQ(path("mul", other), "hlo_module.computations[1].instructions[2].name");
  EXPECT_EQ(PathAt(bytes, MessageKind::kHloProto, 0), "");
  EXPECT_EQ(PathAt(bytes, MessageKind::kHloProto, 3), "hlo_module");
}

TEST(PathAt, DeepTuplesAreCut) {
  std::string shape = F32({});
  for (int i = 0; i < 100; ++i) shape = Tuple({shape});
  const std::string path = PathAt(shape, MessageKind::kShape, shape.size() - 1);
  EXPECT_TRUE(path.starts_with("tuple_shapes[0].tuple_shapes[0].")) << path;
  EXPECT_TRUE(path.ends_with("...")) << path;
  EXPECT_LT(path.size(), 1000U);
}

TEST(FindDamage, FirstBadByte) {
  std::string bytes = Wrapped();
  EXPECT_FALSE(FindDamage(bytes, MessageKind::kHloProto).has_value());
  // The length of the second parameter's shape.
  const size_t at = bytes.find("parameter", bytes.find("other")) + 10;
  bytes[at] = 0x70;
  const auto damage = FindDamage(bytes, MessageKind::kHloProto);
  ASSERT_TRUE(damage.has_value());
  EXPECT_EQ(damage->offset, at);
  EXPECT_TRUE(damage->message.starts_with("a field claims 112 bytes, but only "))
      << damage->message;
}

TEST(FindDamage, InsidePackedNumbers) {
  const std::string shape("\x10\x0b\x1a\x01\x80", 5);
  const auto damage = FindDamage(shape, MessageKind::kShape);
  ASSERT_TRUE(damage.has_value());
  EXPECT_EQ(damage->path, "dimensions");
  EXPECT_EQ(damage->message, "the message ends in the middle of a field");
}

// Nesting costs memory, not the stack.
TEST(FindDamage, MillionTuples) {
  std::string shape("\x10\x0b", 2);
  std::string head;
  // Lengths must be right from the inside out; made backwards.
  for (int i = 0; i < 100'000; ++i) {
    std::string length;
    protozero::write_varint(std::back_inserter(length), shape.size() + head.size());
    std::reverse(length.begin(), length.end());
    head += length + '\x22';
  }
  std::reverse(head.begin(), head.end());
  EXPECT_FALSE(FindDamage(head + shape, MessageKind::kShape).has_value());
}

}  // namespace
}  // namespace stowplan::proto::test
