// SPDX-License-Identifier: Apache-2.0
#include "executable/riegeli.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan::executable {
namespace {

constexpr size_t kBlockSize = 65536;

std::string Text(size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(i * i % 251);
  return out;
}

TEST(Riegeli, ReadsWhatItWrites) {
  const std::vector<std::vector<std::string>> files = {
      {},
      {""},
      {"a", "", "bcd"},
      {Text(kBlockSize), "b"},
      {Text(3 * kBlockSize + 17), Text(100), Text(kBlockSize - 1)},
  };
  for (const std::vector<std::string>& records : files) {
    const std::string bytes = WriteRiegeli(records);
    EXPECT_TRUE(IsRiegeli(bytes));
    EXPECT_EQ(ReadRiegeli("file", bytes), records);
  }
}

// Chunks that end just before, at and after the places where block headers lie.
TEST(Riegeli, ReadsChunksAtTheEdgesOfBlocks) {
  for (size_t size = kBlockSize - 200; size < kBlockSize + 50; ++size) {
    const std::vector<std::string> records = {Text(size), "next"};
    EXPECT_EQ(ReadRiegeli("file", WriteRiegeli(records)), records) << size;
  }
}

TEST(Riegeli, FindsEveryChangedByte) {
  const std::string bytes = WriteRiegeli(std::vector<std::string>{"one", "two"});
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    // The first 24 bytes are a block header, which readers from the front do not need.
    EXPECT_EQ(ReadRiegeli("file", damaged).has_value(), i < 24) << i;
  }
  for (size_t size = 65; size < bytes.size(); ++size) {
    const auto records = ReadRiegeli("file", std::string_view(bytes).substr(0, size));
    // Between two chunks, a shorter file is a file.
    EXPECT_TRUE(!records || records->size() < 2) << size;
  }
}

TEST(Riegeli, SaysWhatIsWrong) {
  std::string bytes = WriteRiegeli(std::vector<std::string>{"one"});
  bytes.back() = 'x';
  const auto records = ReadRiegeli("file", bytes);
  ASSERT_FALSE(records);
  EXPECT_EQ(records.error()[0].message, "the chunk's data do not match their checksum");
  EXPECT_EQ(records.error()[0].offset, 64);
}

}  // namespace
}  // namespace stowplan::executable
