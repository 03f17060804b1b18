// SPDX-License-Identifier: Apache-2.0
#include "stowplan/base/source.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace stowplan {
namespace {

std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

// "" when all is well.
std::string ErrorOf(const Result<std::shared_ptr<const Source>>& source) {
  return source ? "" : Render(source.error());
}

class SourceFile : public testing::Test {
 protected:
  std::string Write(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::string path_ = testing::TempDir() + "stowplan_source_test_" + std::to_string(getpid());
};

void ExpectBytes(const Result<std::shared_ptr<const Source>>& source, std::string_view bytes) {
  ASSERT_EQ(ErrorOf(source), "");
  EXPECT_EQ((*source)->bytes(), bytes);
  for (size_t i = 0; i < Source::kPadding; ++i) EXPECT_EQ((*source)->end()[i], '\0') << i;
}

TEST_F(SourceFile, IsReadAndPadded) {
  ExpectBytes(ReadSource(Write("HloModule m")), "HloModule m");
  ExpectBytes(ReadSource(Write("")), "");
  ExpectBytes(ReadSource(Write(std::string(300'000, 'x'))), std::string(300'000, 'x'));
}

TEST_F(SourceFile, IsUnpackedByContent) {
  const std::string text(100'000, 'x');
  ExpectBytes(ReadSource(Write(Gzip(text))), text);
  ExpectBytes(ReadSource(Write(Zstd(text))), text);
}

TEST_F(SourceFile, ErrorsNameTheFileAndTheReason) {
  EXPECT_EQ(ErrorOf(ReadSource("/nonexistent/x")),
            "/nonexistent/x: error: cannot open: No such file or directory\n");
  EXPECT_EQ(ErrorOf(ReadSource("/tmp")), "/tmp: error: is a directory, not a file\n");
  EXPECT_NE(ErrorOf(ReadSource("/tmp/nothing*.txt")).find("hint: the shell found no file"),
            std::string::npos);
}

TEST_F(SourceFile, WithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  chmod(Write("x").c_str(), 0);
  EXPECT_EQ(ErrorOf(ReadSource(path_)), path_ + ": error: cannot open: Permission denied\n");
}

TEST_F(SourceFile, LargerThanTheLimit) {
  ExpectBytes(ReadSource(Write("12345"), 5), "12345");
  EXPECT_EQ(ErrorOf(ReadSource(path_, 4)), path_ + ": error: larger than the limit of 4 bytes\n");
}

// Files of /proc have no size and must be read to their end.
TEST_F(SourceFile, WithoutASize) {
  const auto source = ReadSource("/proc/self/status");
  ASSERT_EQ(ErrorOf(source), "");
  EXPECT_TRUE((*source)->bytes().starts_with("Name:"));
}

TEST(UnpackSource, SeveralMembersAndFrames) {
  ExpectBytes(UnpackSource("a", Gzip("one ") + Gzip("two")), "one two");
  ExpectBytes(UnpackSource("a", Zstd("one ") + Zstd("two")), "one two");
  ExpectBytes(UnpackSource("a", Gzip("one") + std::string(512, '\0')), "one");
  ExpectBytes(UnpackSource("a", Gzip("")), "");
  ExpectBytes(UnpackSource("a", Zstd("")), "");
}

TEST(UnpackSource, EveryTruncationIsAnError) {
  const std::string text = "HloModule m, is_scheduled=true";
  for (const std::string& packed : {Gzip(text), Zstd(text)}) {
    for (size_t size = 4; size < packed.size(); ++size) {
      const auto source = UnpackSource("a", packed.substr(0, size));
      EXPECT_NE(ErrorOf(source).find("ends early"), std::string::npos) << size << ErrorOf(source);
    }
  }
}

TEST(UnpackSource, CorruptionIsFoundAndPlaced) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * 7919);
  std::string packed = Gzip(text);
  packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);
  const std::string error = ErrorOf(UnpackSource("a", packed));
  EXPECT_TRUE(error.starts_with("a: byte ")) << error;
  EXPECT_NE(error.find("the gzip stream is corrupt"), std::string::npos) << error;
  EXPECT_NE(ErrorOf(UnpackSource("a", Gzip("x") + "garbage")).find("not gzip follow"),
            std::string::npos);
  EXPECT_NE(ErrorOf(UnpackSource("a", Zstd("x") + "garbage")).find("the zstd stream is corrupt"),
            std::string::npos);
}

// A few kilobytes that claim to be a hundred megabytes stop at the limit.
TEST(UnpackSource, BombsStopAtTheLimit) {
  const std::string zeros(100'000'000, '\0');
  for (const std::string& packed : {Gzip(zeros), Zstd(zeros)}) {
    EXPECT_EQ(ErrorOf(UnpackSource("a", packed, 1'000'000)),
              "a: error: larger than the limit of 1000000 bytes\n");
    ExpectBytes(UnpackSource("a", packed, 100'000'000), zeros);
    EXPECT_NE(ErrorOf(UnpackSource("a", packed, 99'999'999)), "");
  }
}

TEST(UnpackSource, OtherArchivesAreNamed) {
  EXPECT_EQ(
      ErrorOf(UnpackSource("a", std::string_view("\xfd"
                                                 "7zXZ\0rest",
                                                 10))),
      "a: error: packed with xz, which Stowplan does not unpack\n  hint: unpack it first: xz -d\n");
  EXPECT_NE(ErrorOf(UnpackSource("a", "PK\x03\x04rest")).find("zip"), std::string::npos);
  EXPECT_NE(ErrorOf(UnpackSource("a", "BZh91AY&SY")).find("bzip2"), std::string::npos);
}

}  // namespace
}  // namespace stowplan
