// SPDX-License-Identifier: Apache-2.0
#include "hlo/literal.h"

#include <vector>

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

// Elements are named by their number.
std::string Nested(const std::vector<int64_t>& dims) {
  std::string out;
  AppendNested(dims, [](int64_t i, std::string& text) { text += std::to_string(i); }, out);
  return out;
}

TEST(Literal, BracesBlanksAndComments) {
  EXPECT_EQ(Nested({}), "0");
  EXPECT_EQ(Nested({0}), "{}");
  EXPECT_EQ(Nested({1}), "{0}");
  EXPECT_EQ(Nested({3}), "{0, 1, 2}");
  EXPECT_EQ(Nested({0, 2}), "{  }");
  EXPECT_EQ(Nested({2, 0}), "{ {}, {} }");
  EXPECT_EQ(Nested({2, 1}), "{ {0}, {1} }");
  EXPECT_EQ(Nested({2, 2}), "{ { 0, 1 }, { 2, 3 } }");
  EXPECT_EQ(Nested({1, 2, 2}), "{ { { 0, 1 }, { 2, 3 } } }");
  EXPECT_EQ(Nested({2, 0, 2}), "{ {  }, {  } }");
  EXPECT_EQ(Nested({2, 1, 1, 1}),
            "{ { /*i0=0*/ { /*i1=0*/ {0} } }, { /*i0=1*/ { /*i1=0*/ {1} } } }");
  EXPECT_EQ(Nested({1, 2, 1, 2}), "{ { /*i0=0*/ { /*i1=0*/ { 0, 1 } }, { /*i1=1*/ { 2, 3 } } } }");
  EXPECT_EQ(Nested({1, 0, 1, 2}), "{ { /*i0=0*/ } }");
  EXPECT_EQ(Nested({1, 1, 2, 1, 2}),
            "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ { 0, 1 } }, { /*i2=1*/ { 2, 3 } } } } }");
}

}  // namespace
}  // namespace stowplan::hlo
