// SPDX-License-Identifier: Apache-2.0
#include "executable/snappy.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace stowplan::executable {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST(Snappy, ReadsLiterals) {
  EXPECT_EQ(Unsnappy("\x00"sv, 100), "");
  EXPECT_EQ(Unsnappy("\x03\x08"sv.substr(0, 2), 100), std::nullopt);  // nothing follows
  EXPECT_EQ(Unsnappy("\x03\x08"
                     "abc"sv,
                     100),
            "abc");
  // A literal of 60 or more has its length in bytes of its own.
  const std::string text(70, 'x');
  EXPECT_EQ(Unsnappy("\x46\xf0\x45"s + text, 100), text);
  EXPECT_EQ(Unsnappy("\x46\xf4\x45\x00"s + text, 100), text);
}

TEST(Snappy, ReadsCopies) {
  // One byte of distance, 4 to 11 long.
  EXPECT_EQ(Unsnappy("\x07\x08"
                     "abc\x01\x03"sv,
                     100),
            "abcabca");
  // Two and four bytes of distance; copies may overlap what they make.
  EXPECT_EQ(Unsnappy("\x06\x00"
                     "a\x12\x01\x00"sv,
                     100),
            "aaaaaa");
  EXPECT_EQ(Unsnappy("\x06\x00"
                     "a\x13\x01\x00\x00\x00"sv,
                     100),
            "aaaaaa");
}

TEST(Snappy, RefusesWhatIsDamaged) {
  EXPECT_EQ(Unsnappy(""sv, 100), std::nullopt);
  EXPECT_EQ(Unsnappy("\xff\xff\xff\xff\xff\xff"sv, 100), std::nullopt);  // no size
  EXPECT_EQ(Unsnappy("\x04\x08"
                     "abc"sv,
                     100),
            std::nullopt);  // too few bytes
  EXPECT_EQ(Unsnappy("\x02\x08"
                     "abc"sv,
                     100),
            std::nullopt);  // too many
  EXPECT_EQ(Unsnappy("\x07\x08"
                     "abc\x01\x04"sv,
                     100),
            std::nullopt);  // from before the start
  EXPECT_EQ(Unsnappy("\x07\x08"
                     "abc\x01\x00"sv,
                     100),
            std::nullopt);  // from nowhere
  EXPECT_EQ(Unsnappy("\x03\x08"
                     "abc"sv,
                     2),
            std::nullopt);                                                // larger than allowed
  EXPECT_EQ(Unsnappy("\xff\xff\xff\xff\x0f"sv, SIZE_MAX), std::nullopt);  // a size and nothing else
}

}  // namespace
}  // namespace stowplan::executable
