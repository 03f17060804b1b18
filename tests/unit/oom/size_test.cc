// SPDX-License-Identifier: Apache-2.0
#include "oom/size.h"

#include <string>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "base/human_bytes.h"
#include "unit/oom/sizes.h"

namespace stowplan::oom {
namespace {

TEST(OomSize, AllSpellings) {
  EXPECT_EQ(ParseSize("0B"), (Size{0, 0}));
  EXPECT_EQ(ParseSize("2684354560B"), (Size{2684354560, 0}));
  EXPECT_EQ(ParseSize("8387559424"), (Size{8387559424, 0}));
  EXPECT_EQ(ParseSize("8387559424 bytes"), (Size{8387559424, 0}));
  EXPECT_EQ(ParseSize("2G"), (Size{2 * kGiB, kGiB}));
  EXPECT_EQ(ParseSize("1.50MiB"), (Size{kMiB * 3 / 2, kMiB / 100}));
  EXPECT_EQ(ParseSize("1.50 MiB"), (Size{kMiB * 3 / 2, kMiB / 100}));
  EXPECT_EQ(ParseSize("184. MiB"), (Size{184 * kMiB, kMiB}));
  EXPECT_EQ(ParseSize("38.6KiB"), (Size{39526, 102}));
  EXPECT_EQ(ParseSize("38.6K"), ParseSize("38.6KiB"));
  EXPECT_EQ(ParseSize("3.47E")->bytes, 4000637620985759006);
  // The exact number, where it stands behind.
  EXPECT_EQ(ParseSize("7.81G (8387559424 bytes)"), (Size{8387559424, 0}));
  EXPECT_EQ(ParseSize("32.00MiB (33554432B)"), (Size{33554432, 0}));
  // Another number in brackets is another matter.
  size_t at = 0;
  EXPECT_EQ(ReadSize("2.00MiB (7)", at), (Size{2 * kMiB, kMiB / 100}));
  EXPECT_EQ(at, 7U);
}

TEST(OomSize, EndsWhereItEnds) {
  for (const auto& [text, end] : {std::pair<std::string_view, size_t>{"15.48G hbm", 6},
                                  {"1.60G.", 5},
                                  {"5 bytes.", 7},
                                  {"5. Next", 1},
                                  {"6291456 bytes", 13},
                                  {"2.0x", 0},
                                  {"3Mfoo", 0},
                                  {"1.5", 0},
                                  {"", 0},
                                  {"G", 0},
                                  {"-5", 0},
                                  {"99999999999999999999", 0},
                                  {"99999999999E", 0},
                                  {"9.99999999999999999999999999G", 0}}) {
    size_t at = 0;
    const bool is_size = ReadSize(text, at).has_value();
    EXPECT_EQ(at, end) << text;
    EXPECT_EQ(is_size, end != 0) << text;
  }
}

TEST(OomSize, Sums) {
  EXPECT_EQ(Plus(Size{1, 2}, Size{3, 4}), (Size{4, 6}));
  EXPECT_EQ(Minus(Size{1, 2}, Size{3, 4}), (Size{-2, 6}));
  EXPECT_EQ(Plus(Size{1, 2}, std::nullopt), std::nullopt);
  EXPECT_EQ(Plus(Size{INT64_MAX, 0}, Size{1, 0}), std::nullopt);
  // What is left of something may be subtracted again.
  EXPECT_EQ(Minus(Size{INT64_MAX, 0}, Size{-2, 0}), (Size{INT64_MAX, 0}));
  EXPECT_EQ(Minus(Size{-2, 0}, Size{INT64_MAX, 0}), (Size{INT64_MIN, 0}));
  EXPECT_TRUE(Agree({100, 5}, {110, 5}));
  EXPECT_FALSE(Agree({100, 5}, {111, 5}));
}

// What XLA prints of a number agrees with the number.
RC_GTEST_PROP(OomSize, HumanSizesAgree, ()) {
  const int64_t bytes = *rc::gen::inRange<int64_t>(0, int64_t{1} << 60);
  const std::string text = HumanBytes(bytes);
  const std::optional<Size> size = ParseSize(text);
  RC_ASSERT(size.has_value());
  RC_ASSERT(Agree(*size, Size{.bytes = bytes, .slack = 0}));
  RC_ASSERT(HumanBytes(size->bytes) == text);
}

}  // namespace
}  // namespace stowplan::oom
