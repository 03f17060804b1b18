// SPDX-License-Identifier: Apache-2.0
#include "proto/wire.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan::proto {
namespace {

enum class Field : uint32_t { kFirst = 1, kSecond = 2 };

TEST(Message, Fields) {
  Message message(
      std::string_view("\x08\x96\x01\x12\x03"
                       "abc"
                       "\x0d\x01\x00\x00\x00",
                       13));
  ASSERT_TRUE(message.Next());
  EXPECT_EQ(message.key(), VarintKey(Field::kFirst));
  EXPECT_EQ(message.Int64(), 150);
  ASSERT_TRUE(message.Next());
  EXPECT_EQ(message.key(), BytesKey(Field::kSecond));
  EXPECT_EQ(message.Bytes(), "abc");
  ASSERT_TRUE(message.Next());
  EXPECT_EQ(message.key(), Fixed32Key(Field::kFirst));
  EXPECT_EQ(message.Fixed32(), 1U);
  EXPECT_FALSE(message.Next());
}

TEST(Message, PackedAndSingleNumbers) {
  std::vector<int64_t> numbers;
  Message message(std::string_view("\x0a\x03\x01\xac\x02\x08\x05", 7));
  while (message.Next()) message.AppendInts(numbers);
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 300, 5}));
}

// Protobuf's booleans are any number; its int32s the low half of one.
TEST(Message, LongNumbers) {
  Message yes(std::string_view("\x08\x80\x02", 3));
  ASSERT_TRUE(yes.Next());
  EXPECT_TRUE(yes.Bool());
  Message no(std::string_view("\x08\x80\x00", 3));
  ASSERT_TRUE(no.Next());
  EXPECT_FALSE(no.Bool());
  Message minus(std::string_view("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
  ASSERT_TRUE(minus.Next());
  EXPECT_EQ(minus.Int32(), -1);
}

TEST(Message, Malformed) {
  const auto skip = [](std::string_view bytes) {
    Message message(bytes);
    while (message.Next()) message.Skip();
  };
  EXPECT_THROW(skip("\x0a\x05"
                    "abc"),
               protozero::end_of_buffer_exception);
  EXPECT_THROW(skip(std::string_view("\x0a\x85\x80\x80\x80\x10"
                                     "abcde",
                                     11)),
               protozero::end_of_buffer_exception);
  EXPECT_THROW(skip("\x0d\x01"), protozero::end_of_buffer_exception);
  EXPECT_THROW(skip("\x08"), protozero::end_of_buffer_exception);
  EXPECT_THROW(skip(std::string_view("\x00\x01", 2)), protozero::invalid_tag_exception);
  EXPECT_THROW(skip("\x80\x80\x80\x80\x80\x01\x01"), protozero::invalid_tag_exception);
  EXPECT_THROW(skip("\x0b"), protozero::unknown_pbf_wire_type_exception);
  EXPECT_THROW(skip("\x08" + std::string(12, '\xff')), protozero::varint_too_long_exception);
}

}  // namespace
}  // namespace stowplan::proto
