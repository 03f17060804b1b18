// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/attribute.h"

#include <string>

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

TEST(Attribute, EveryNameIsFoundAgain) {
  for (int i = 0; i < kAttributeKeyCount; ++i) {
    const auto key = static_cast<AttributeKey>(i);
    if (Name(key).empty()) continue;
    const auto found = FindAttributeKey(Name(key));
    ASSERT_TRUE(found) << Name(key);
    // Two opcodes use this name for different things.
    if (key == AttributeKey::kPermuteSliceSizes) {
      EXPECT_EQ(*found, AttributeKey::kSliceSizes);
    } else {
      EXPECT_EQ(*found, key) << Name(key);
    }
  }
}

TEST(Attribute, OtherNamesAreNotFound) {
  for (const char* name : {"", "x", "dimension", "dimensionss", "Dimensions", "metadata", "{"}) {
    EXPECT_FALSE(FindAttributeKey(name)) << name;
  }
}

TEST(Attribute, KindsSayHowValuesAreWritten) {
  EXPECT_EQ(KindOf(AttributeKey::kIndex), ValueKind::kInt);
  EXPECT_EQ(KindOf(AttributeKey::kIsStable), ValueKind::kBool);
  EXPECT_EQ(KindOf(AttributeKey::kDimensions), ValueKind::kInts);
  EXPECT_EQ(KindOf(AttributeKey::kToApply), ValueKind::kComputation);
  EXPECT_EQ(KindOf(AttributeKey::kBranchComputations), ValueKind::kComputations);
  EXPECT_EQ(KindOf(AttributeKey::kBackendConfig), ValueKind::kConfig);
  EXPECT_EQ(KindOf(AttributeKey::kUnknown), ValueKind::kVerbatim);
}

TEST(Attribute, HoldsANumberATextOrRows) {
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(Attribute::OfNumber(AttributeKey::kIndex, n).number(), n);
  }
  const Attribute text = Attribute::OfText(AttributeKey::kKind, {.offset = 3, .size = 4});
  EXPECT_EQ(text.text().offset, 3U);
  EXPECT_EQ(text.text().size, 4U);
  const Attribute rows = Attribute::OfRows(AttributeKey::kDimensions, {.begin = 5, .count = 6});
  EXPECT_EQ(rows.rows(), (Range{.begin = 5, .count = 6}));
  // Modules have millions of them.
  static_assert(sizeof(Attribute) == 12);
}

}  // namespace
}  // namespace stowplan::hlo
