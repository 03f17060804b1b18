// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/opcode.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace stowplan::hlo {
namespace {

TEST(Opcode, EveryNameIsFoundAgain) {
  for (int i = 1; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    EXPECT_FALSE(Name(opcode).empty()) << i;
    EXPECT_EQ(FindOpcode(Name(opcode)), opcode) << Name(opcode);
  }
  EXPECT_EQ(Name(Opcode::kUnknown), "");
}

TEST(Opcode, OtherNamesAreNotFound) {
  for (const char* name : {"", "x", "Add", "add ", "adds", "all_reduce", "slice-start"}) {
    EXPECT_FALSE(FindOpcode(name)) << name;
  }
}

TEST(Opcode, RetiredOnesAreKnown) {
  for (const char* name :
       {"tuple-select", "trace", "all-reduce-scatter", "equal-to", "not-equal-to", "greater-than",
        "greater-than-or-equal-to", "less-than", "less-than-or-equal-to", "cross-replica-sum",
        "host-compute", "generate-token"}) {
    EXPECT_TRUE(FindOpcode(name)) << name;
  }
}

TEST(Opcode, OwnAttributes) {
  const auto own = [](Opcode opcode) {
    const auto keys = OwnAttributes(opcode);
    return std::vector<AttributeKey>(keys.begin(), keys.end());
  };
  EXPECT_EQ(own(Opcode::kAdd), std::vector<AttributeKey>());
  EXPECT_EQ(own(Opcode::kGetTupleElement), std::vector{AttributeKey::kIndex});
  EXPECT_EQ(own(Opcode::kSort), (std::vector{AttributeKey::kDimensions, AttributeKey::kIsStable,
                                             AttributeKey::kToApply}));
  EXPECT_EQ(own(Opcode::kWhile), (std::vector{AttributeKey::kCondition, AttributeKey::kBody}));
}

TEST(Opcode, OwnAttributesRankFirstAndInTheirOrder) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    int last = 0;
    for (const AttributeKey key : OwnAttributes(opcode)) {
      EXPECT_LT(last, PrintRank(opcode, key)) << Name(opcode) << " " << Name(key);
      last = PrintRank(opcode, key);
    }
    EXPECT_LT(last, PrintRank(opcode, AttributeKey::kSharding)) << Name(opcode);
  }
}

TEST(Opcode, CommonAttributesRankLastAndUnknownOnesBehindThem) {
  std::vector<AttributeKey> keys = {AttributeKey::kUnknown,
                                    AttributeKey::kBackendConfig,
                                    AttributeKey::kOrigin,
                                    AttributeKey::kResultAccuracy,
                                    AttributeKey::kStatistics,
                                    AttributeKey::kControlPredecessors,
                                    AttributeKey::kFrontendAttributes,
                                    AttributeKey::kSharding,
                                    AttributeKey::kChannelId,
                                    AttributeKey::kDimensions};
  std::ranges::stable_sort(keys, {},
                           [](AttributeKey key) { return PrintRank(Opcode::kTranspose, key); });
  EXPECT_EQ(keys, (std::vector{AttributeKey::kDimensions, AttributeKey::kChannelId,
                               AttributeKey::kSharding, AttributeKey::kFrontendAttributes,
                               AttributeKey::kControlPredecessors, AttributeKey::kStatistics,
                               AttributeKey::kResultAccuracy, AttributeKey::kOrigin,
                               AttributeKey::kBackendConfig, AttributeKey::kUnknown}));
}

}  // namespace
}  // namespace stowplan::hlo
