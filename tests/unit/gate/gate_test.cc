// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace stowplan::gate {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> WordsOf(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> words;
  for (const Verdict& verdict : verdicts) {
    words.push_back(verdict.module + " " +
                    (verdict.space ? std::to_string(*verdict.space) : "all") + " " +
                    std::string(Name(verdict.outcome)));
  }
  return words;
}

const std::vector<Figure> kFigures = {{"f", 0, 1000}, {"f", 1, 10}, {"f", std::nullopt, 1005}};

TEST(Gate, Percents) {
  EXPECT_EQ(ParsePercent("1%")->millionths, 10000);
  EXPECT_EQ(ParsePercent("0.25%")->millionths, 2500);
  EXPECT_EQ(ParsePercent("0%")->millionths, 0);
  EXPECT_EQ(ParsePercent("1000000%")->millionths, 10000000000);
  for (const std::string_view bad : {"", "%", "1", "-1%", "1.%", ".5%", "1e3%", "1.00001%", "nan%",
                                     "1000001%", "99999999999999999999%", " 1%"})
    EXPECT_FALSE(ParsePercent(bad).has_value()) << bad;
}

TEST(Gate, Amounts) {
  EXPECT_EQ(ParsePercent("1%")->Of(12345), 123);
  EXPECT_EQ(ParsePercent("100%")->Of(INT64_MAX), INT64_MAX);
  EXPECT_EQ(ParsePercent("1000000%")->Of(INT64_MAX), INT64_MAX);
  EXPECT_EQ((Amount{.bytes = 7, .millionths = 0}).Of(1), 7);
  EXPECT_EQ((Amount{.bytes = 7, .millionths = 10000}).Of(1000), 10);
}

TEST(Gate, Budgets) {
  EXPECT_THAT(WordsOf(CheckBudgets(kFigures, {{.bytes = 1000}})),
              ElementsAre("f 0 passed", "f 1 passed"));
  EXPECT_THAT(WordsOf(CheckBudgets(kFigures, {{.bytes = 999}})),
              ElementsAre("f 0 breach", "f 1 passed"));
  EXPECT_THAT(WordsOf(CheckBudgets(kFigures, {{.of = Budget::Of::kOne, .space = 1, .bytes = 9}})),
              ElementsAre("f 1 breach"));
  EXPECT_THAT(WordsOf(CheckBudgets(kFigures, {{.of = Budget::Of::kAll, .bytes = 1004}})),
              ElementsAre("f all breach"));
  EXPECT_THAT(CheckBudgets(kFigures, {}), ElementsAre());
}

TEST(Gate, Growth) {
  const auto words = [](int64_t bytes, const Growth& growth, Rule rule = Rule::kGrowth) {
    return WordsOf(CheckGrowth({{"f", 0, 1000}}, {{"f", 0, bytes}}, growth, rule));
  };
  const Growth percent = {.most = {.millionths = 10000}, .tolerance = {}};
  EXPECT_THAT(words(1000, {}), ElementsAre("f 0 passed"));
  EXPECT_THAT(words(1001, {}), ElementsAre("f 0 breach"));
  EXPECT_THAT(words(1010, percent), ElementsAre("f 0 passed"));
  EXPECT_THAT(words(1011, percent), ElementsAre("f 0 breach"));
  // The larger of both, not the sum.
  const Growth both = {.most = {.millionths = 10000}, .tolerance = {.bytes = 20}};
  EXPECT_THAT(words(1020, both), ElementsAre("f 0 passed"));
  EXPECT_THAT(words(1021, both), ElementsAre("f 0 breach"));
  EXPECT_THAT(words(900, {}), ElementsAre("f 0 passed"));
  EXPECT_THAT(words(900, {}, Rule::kLock), ElementsAre("f 0 less"));
  EXPECT_THAT(words(990, both, Rule::kLock), ElementsAre("f 0 passed"));
}

TEST(Gate, ModulesThatComeAndGo) {
  EXPECT_THAT(WordsOf(CheckGrowth({{"old", 0, 5}}, {{"new", 0, 5}}, {}, Rule::kGrowth)),
              ElementsAre("new 0 new", "old 0 gone"));
  EXPECT_THAT(WordsOf(CheckGrowth({{"old", 0, 5}}, {{"new", 0, 5}}, {}, Rule::kLock)),
              ElementsAre("new 0 missing", "old 0 gone"));
  // A memory space that was not used before.
  EXPECT_THAT(WordsOf(CheckGrowth({{"f", 0, 5}}, {{"f", 0, 5}, {"f", 1, 1}}, {}, Rule::kGrowth)),
              ElementsAre("f 0 passed", "f 1 breach"));
}

}  // namespace
}  // namespace stowplan::gate
