// SPDX-License-Identifier: Apache-2.0
#include "base/checked_math.h"

#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/human_bytes.h"

namespace stowplan {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(CheckedMath, SaysWhenANumberDoesNotFit) {
  EXPECT_EQ(CheckedAdd(2, 3), 5);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kMin, -1), std::nullopt);
  EXPECT_EQ(CheckedMultiply(1 << 20, 1 << 20), int64_t{1} << 40);
  EXPECT_EQ(CheckedMultiply(kMax, 2), std::nullopt);
  EXPECT_EQ(CheckedMultiply(kMin, -1), std::nullopt);
}

TEST(CheckedMath, ProductsOfSizes) {
  EXPECT_EQ(CheckedProduct({}), 1);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{2, 3, 5}), 30);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{kMax, 2}), std::nullopt);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{2, -1}), std::nullopt);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{0, kMin}), std::nullopt);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{0, kMax, kMax}), 0);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{kMax, kMax, 0}), 0);
  EXPECT_EQ(CheckedProduct(std::vector<int64_t>{kMax, 0, kMax}), 0);
}

TEST(CheckedMath, SaturatingProducts) {
  EXPECT_EQ(SaturatingMultiply(6, 7), 42);
  EXPECT_EQ(SaturatingMultiply(kMax, 2), kMax);
  EXPECT_EQ(SaturatingMultiply(kMax, -2), kMin);
  EXPECT_EQ(SaturatingMultiply(kMin, -1), kMax);
  EXPECT_EQ(SaturatingMultiply(kMax, 0), 0);
}

TEST(CheckedMath, Differences) {
  EXPECT_EQ(CheckedSubtract(2, 3), -1);
  EXPECT_EQ(CheckedSubtract(kMax, -1), std::nullopt);
  EXPECT_EQ(CheckedSubtract(kMin, 1), std::nullopt);
}

TEST(CheckedMath, Rounds) {
  EXPECT_EQ(CheckedRoundUp(0, 8), 0);
  EXPECT_EQ(CheckedRoundUp(1, 8), 8);
  EXPECT_EQ(CheckedRoundUp(16, 8), 16);
  EXPECT_EQ(CheckedRoundUp(kMax, 8), std::nullopt);
  EXPECT_EQ(CeilDivide(0, 8), 0);
  EXPECT_EQ(CeilDivide(9, 8), 2);
  EXPECT_EQ(CeilDivide(kMax, 1), kMax);
}

TEST(HumanBytes, AsInXlasReports) {
  EXPECT_EQ(HumanBytes(0), "0B");
  EXPECT_EQ(HumanBytes(1023), "1023B");
  EXPECT_EQ(HumanBytes(1024), "1.0KiB");
  EXPECT_EQ(HumanBytes(1048575), "1024.0KiB");
  EXPECT_EQ(HumanBytes(41943040), "40.00MiB");
  EXPECT_EQ(HumanBytes(1610612736), "1.50GiB");
  EXPECT_EQ(HumanBytes(-2048), "-2.0KiB");
  EXPECT_EQ(HumanBytes(kMax), "8.00EiB");
  EXPECT_EQ(HumanBytes(kMin), "-8.00EiB");
  EXPECT_EQ(HumanAndExactBytes(1610612736), "1.50GiB (1610612736)");
  EXPECT_EQ(HumanAndExactBytes(512), "512B");
}

}  // namespace
}  // namespace stowplan
