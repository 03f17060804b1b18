// SPDX-License-Identifier: Apache-2.0
#include "advise/donate.h"
#include "unit/advise/advising.h"

namespace stowplan::advise {
namespace {

// Parameters of these shapes, outputs of those; nothing is computed.
hlo::Module WithShapes(const std::vector<std::string>& in, const std::vector<std::string>& out,
                       const std::string& header = {}) {
  std::string text = "HloModule m, is_scheduled=true" + header + "\n\nENTRY e {\n";
  for (size_t i = 0; i < in.size(); ++i)
    text += "  p" + std::to_string(i) + " = " + in[i] + " parameter(" + std::to_string(i) + ")\n";
  std::string shape;
  std::string operands;
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string name = "o" + std::to_string(i);
    text += "  " + name + " = " + out[i] + " custom-call(), custom_call_target=\"make\"\n";
    shape += (i == 0 ? "" : ", ") + out[i];
    operands += (i == 0 ? "" : ", ") + name;
  }
  return ParseProgram(text + "  ROOT t = (" + shape + ") tuple(" + operands + ")\n}\n");
}

Pairing Pair(const hlo::Module& module, const std::vector<int64_t>& parameters) {
  return PairDonations(module, parameters, *FindTarget("cpu"));
}

TEST(Pairing, GivesEachOutputTheFirstArgumentOfItsShape) {
  const hlo::Module module =
      WithShapes({"f32[4]{0}", "f32[8]{0}", "f32[4]{0}"}, {"f32[8]{0}", "f32[4]{0}", "f32[4]{0}"});
  const Pairing pairing = Pair(module, {0, 1, 2});
  EXPECT_EQ(pairing.pairs, (std::vector<DonatedPair>{{0, 1}, {1, 0}, {2, 2}}));
  EXPECT_TRUE(pairing.refused.empty());
  EXPECT_TRUE(pairing.donors.empty());
}

TEST(Pairing, SaysWhichRuleForbids) {
  const hlo::Module module =
      WithShapes({"f32[4]{0}", "f32[4]{0}", "f32[9]{0}", "s32[7]{0}"}, {"f32[4]{0}", "f32[7]{0}"});
  const Pairing pairing = Pair(module, {0, 1, 2, 3});
  EXPECT_EQ(pairing.pairs, (std::vector<DonatedPair>{{0, 0}, {3, 1}}));
  ASSERT_EQ(pairing.refused.size(), 2U);
  EXPECT_EQ(pairing.refused[0].parameter, 1);
  EXPECT_EQ(pairing.refused[0].rule, RefusalRule::kTaken);
  EXPECT_EQ(pairing.refused[0].reason, "the one output that is f32[4] has a donated parameter");
  EXPECT_EQ(pairing.refused[1].rule, RefusalRule::kShape);
  EXPECT_EQ(pairing.refused[1].reason, "no output is f32[9]");
}

TEST(Pairing, OtherTypesOfAsManyElementsAreDonors) {
  const hlo::Module module =
      WithShapes({"f32[4]{0}", "f32[8]{0}"}, {"bf16[4]{0}", "f32[2,4]{1,0}"});
  const Pairing pairing = Pair(module, {0, 1});
  // As many bytes: XLA pairs them. Fewer: the donor stays a donor.
  EXPECT_EQ(pairing.pairs, (std::vector<DonatedPair>{{1, 1}}));
  ASSERT_EQ(pairing.donors.size(), 1U);
  EXPECT_EQ(pairing.donors[0].parameter, 0);
  EXPECT_EQ(pairing.refused[0].reason, "no output is f32[4]; output 0 is bf16[4]");
}

// On a TPU all of these take 512 bytes. JAX counts elements: it does not donate a key for a count.
TEST(Pairing, PaddingMakesNothingAlike) {
  const Target tpu = *FindTarget("tpu-v5e");
  const hlo::Module key = WithShapes({"u32[2]{0:T(128)}"}, {"s32[]{:T(128)}"});
  const Pairing refused = PairDonations(key, std::vector<int64_t>{0}, tpu);
  EXPECT_TRUE(refused.pairs.empty());
  EXPECT_TRUE(refused.donors.empty());
  EXPECT_EQ(refused.refused.size(), 1U);
  const hlo::Module same = WithShapes({"u32[2]{0:T(128)}"}, {"s32[1,2]{1,0:T(1,128)}"});
  const Pairing paired = PairDonations(same, std::vector<int64_t>{0}, tpu);
  EXPECT_EQ(paired.pairs, (std::vector<DonatedPair>{{0, 0}}));
}

TEST(Pairing, LayoutAndSpaceMustAgree) {
  const hlo::Module layout = WithShapes({"f32[4,8]{1,0}"}, {"f32[4,8]{0,1}"});
  EXPECT_EQ(Pair(layout, {0}).refused[0].rule, RefusalRule::kLayout);
  const hlo::Module space = WithShapes({"f32[4,8]{1,0:S(5)}"}, {"f32[4,8]{1,0}"});
  EXPECT_EQ(Pair(space, {0}).refused[0].rule, RefusalRule::kSpace);
}

TEST(Pairing, IsMadeAnewForAllDonatedArguments) {
  // Donating parameter 0 as well takes output 0 away from parameter 1, as in JAX.
  const hlo::Module module = WithShapes({"f32[4]{0}", "f32[4]{0}"}, {"f32[4]{0}", "f32[4]{0}"},
                                        ", input_output_alias={ {0}: (1, {}, may-alias) }");
  const Pairing pairing = Pair(module, {0});
  EXPECT_EQ(pairing.pairs, (std::vector<DonatedPair>{{0, 0}}));
  ASSERT_EQ(pairing.aliases.size(), 2U);
  EXPECT_EQ(pairing.aliases[1].parameter, 1);
  EXPECT_EQ(pairing.aliases[1].output_index, hlo::ShapeIndex{1});
}

TEST(Pairing, LeavesPairsThatAreNotJaxs) {
  const hlo::Module module = WithShapes({"f32[4]{0}", "f32[4]{0}"}, {"f32[4]{0}", "f32[4]{0}"},
                                        ", input_output_alias={ {1}: (1, {}, may-alias) }");
  const Pairing pairing = Pair(module, {0});
  EXPECT_EQ(pairing.pairs, (std::vector<DonatedPair>{{0, 0}}));
  EXPECT_EQ(pairing.aliases[1].output_index, hlo::ShapeIndex{1});
  EXPECT_EQ(pairing.aliases[1].parameter, 1);
}

}  // namespace
}  // namespace stowplan::advise
