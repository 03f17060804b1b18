// SPDX-License-Identifier: Apache-2.0
// Pairs of small programs whose difference is known.
#include "diff/diff.h"

#include <memory>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "diff/cause.h"
#include "unit/diff/laws.h"
#include "unit/explain/picturing.h"

namespace stowplan::diff {
namespace {

using explain::test::Scene;
using explain::test::SceneOf;
using ::testing::ElementsAre;

// Bytes: w 1024, x 256, h 1024, g 1024, out 1024. All but x are live while g is made.
constexpr std::string_view kBase = R"(HloModule step, is_scheduled=true

ENTRY main {
  w = f32[256]{0} parameter(0), metadata={op_name="params['w']"}
  x = f32[64]{0} parameter(1), metadata={op_name="x"}
  h = f32[256]{0} concatenate(x, x, x, x), dimensions={0}, metadata={op_name="jit(f)/concatenate" source_file="m.py" source_line=3}
  g = f32[256]{0} cosine(h), metadata={op_name="jit(f)/cos" source_file="m.py" source_line=4}
  u = f32[256]{0} multiply(g, h), metadata={op_name="jit(f)/mul" source_file="m.py" source_line=5}
  ROOT out = f32[256]{0} add(w, u), metadata={op_name="jit(f)/add" source_file="m.py" source_line=6}
}
)";

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

struct Pair {
  std::unique_ptr<Scene> a;
  std::unique_ptr<Scene> b;
  Diff diff;

  [[nodiscard]] const SpaceDiff& all() const { return diff.spaces[0]; }
  // "+1024 new": those that are not 0.
  [[nodiscard]] std::vector<std::string> Terms() const {
    std::vector<std::string> words;
    for (size_t i = 0; i < kTerms; ++i) {
      if (all().terms[i] == 0) continue;
      words.push_back(std::to_string(all().terms[i]) + " " +
                      std::string(Name(static_cast<Term>(i))));
    }
    return words;
  }
  [[nodiscard]] std::vector<std::string> Causes(Group group = Group::kCause) const {
    std::vector<std::string> words;
    for (const Cause& cause : CausesOf(all(), diff.match, a->picture, b->picture, group))
      words.push_back(std::to_string(cause.bytes) + " " + cause.name);
    return words;
  }
};

Pair PairOf(std::string_view a, std::string_view b) {
  Pair pair{.a = SceneOf(a), .b = SceneOf(b), .diff = {}};
  Result<Diff> diff = DiffOf(pair.a->picture, pair.b->picture);
  EXPECT_TRUE(diff.has_value());
  pair.diff = *std::move(diff);
  CheckLaws(pair.a->picture, pair.b->picture);
  return pair;
}

TEST(Diff, OfTheSameIsEmpty) {
  const Pair pair = PairOf(kBase, kBase);
  EXPECT_TRUE(pair.diff.is_empty());
  EXPECT_THAT(pair.Causes(), ElementsAre());
}

TEST(Diff, NamesDoNotMatter) {
  std::string renamed(kBase);
  for (const std::string_view name : {"w", "x", "h", "g", "u", "out"}) {
    renamed = std::regex_replace(renamed, std::regex("([ (,])" + std::string(name) + "([ ),])"),
                                 "$1" + std::string(name) + "_7.clone$2");
    renamed = std::regex_replace(renamed, std::regex("([ (,])" + std::string(name) + "([ ),])"),
                                 "$1" + std::string(name) + "_7.clone$2");
  }
  ASSERT_NE(renamed.find("concatenate(x_7.clone, x_7.clone, x_7.clone, x_7.clone)"),
            std::string::npos);
  EXPECT_TRUE(PairOf(kBase, renamed).diff.is_empty());
}

// Something was written above line 4.
TEST(Diff, LinesMayMove) {
  std::string moved = Replaced(std::string(kBase), "source_line=6", "source_line=8");
  moved = Replaced(moved, "source_line=5", "source_line=7");
  moved = Replaced(moved, "source_line=4", "source_line=6");
  EXPECT_TRUE(PairOf(kBase, moved).diff.is_empty());
}

TEST(Diff, ALargerBatchIsOneCause) {
  std::string large = Replaced(std::string(kBase), "f32[256]", "f32[512]");
  large = Replaced(large, "f32[64]", "f32[128]");
  const Pair pair = PairOf(kBase, large);
  const int64_t change = pair.all().peak_change();
  EXPECT_EQ(change, 3328);
  EXPECT_THAT(pair.Terms(), ElementsAre(std::to_string(change) + " grown"));
  EXPECT_THAT(pair.Causes(), ElementsAre(std::to_string(change) + " 64 -> 128"));
  EXPECT_EQ(pair.diff.counts.resized, 6);
}

TEST(Diff, AnotherTypeIsOneCause) {
  const Pair pair = PairOf(Replaced(std::string(kBase), "f32[", "bf16["), kBase);
  EXPECT_THAT(pair.Causes(),
              ElementsAre(std::to_string(pair.all().peak_change()) + " bf16 -> f32"));
}

// h is read once more at the end, so it is alive with all the others.
TEST(Diff, LivesLonger) {
  const std::string base = R"(HloModule step, is_scheduled=true

ENTRY main {
  x = f32[64]{0} parameter(0), metadata={op_name="x"}
  h = f32[256]{0} concatenate(x, x, x, x), dimensions={0}, metadata={op_name="jit(f)/concatenate" source_file="m.py" source_line=3}
  s = f32[64]{0} slice(h), slice={[0:64]}, metadata={op_name="jit(f)/slice" source_file="m.py" source_line=4}
  k = f32[512]{0} concatenate(s, s, s, s, s, s, s, s), dimensions={0}, metadata={op_name="jit(f)/k" source_file="m.py" source_line=5}
  c = f32[256]{0} slice(k), slice={[0:256]}, metadata={op_name="jit(f)/c" source_file="m.py" source_line=6}
  ROOT out = f32[256]{0} add(c, c), metadata={op_name="jit(f)/add" source_file="m.py" source_line=7}
}
)";
  const Pair pair = PairOf(base, Replaced(base, "add(c, c)", "add(c, h)"));
  EXPECT_THAT(pair.Causes(), testing::Contains("1024 m.py:3"));
  EXPECT_EQ(pair.Causes()[0], "1024 m.py:3");
  EXPECT_EQ(pair.all().terms[static_cast<size_t>(Term::kLonger)], 1024);
}

TEST(Diff, ACopy) {
  std::string copied = Replaced(std::string(kBase), "  u = f32[256]{0} multiply(g, h)",
                                "  k = f32[256]{0} copy(w)\n  u = f32[256]{0} multiply(g, h)");
  copied = Replaced(copied, "add(w, u)", "add(k, u)");
  const Pair pair = PairOf(kBase, copied);
  EXPECT_EQ(pair.all().terms[static_cast<size_t>(Term::kCopies)], 1024);
  EXPECT_EQ(pair.Causes()[0], "1024 copy of argument params");
}

TEST(Diff, LostDonation) {
  const std::string donated =
      Replaced(std::string(kBase), "is_scheduled=true",
               "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }");
  const Pair pair = PairOf(donated, kBase);
  EXPECT_THAT(pair.diff.totals,
              ElementsAre(Total{.space = 0, .use = Use::kParameter, .a = 256, .b = 1280},
                          Total{.space = 0, .use = Use::kDonated, .a = 1024, .b = 0},
                          Total{.space = 0, .use = Use::kOutput, .a = 0, .b = 1024},
                          Total{.space = 0, .use = Use::kTemporary, .a = 2048, .b = 1024}));
}

// One side knows no op_names, no opcodes and no kinds; the memory is the same.
TEST(Diff, AReportWithoutItsModule) {
  const auto a = SceneOf(kBase);
  const auto b = SceneOf(kBase, "cpu", /*has_module=*/false);
  CheckLaws(a->picture, b->picture);
  const Result<Diff> diff = DiffOf(a->picture, b->picture);
  ASSERT_TRUE(diff.has_value());
  EXPECT_TRUE(diff->is_empty());
}

TEST(Diff, WithoutLiveRanges) {
  Pair pair{
      .a = SceneOf(kBase), .b = SceneOf(Replaced(std::string(kBase), "256", "512")), .diff = {}};
  pair.a->report.live_ranges.reset();
  Result<explain::Picture> bare = explain::MakePicture(pair.a->report, &pair.a->program.module);
  ASSERT_TRUE(bare.has_value());
  Result<Diff> diff = DiffOf(*bare, pair.b->picture);
  ASSERT_TRUE(diff.has_value());
  EXPECT_FALSE(diff->has_peak);
  EXPECT_FALSE(diff->is_empty());
  EXPECT_EQ(diff->spaces[0].footprint_change(), 3072);
}

TEST(Diff, SizesThatDoNotFit) {
  const auto a = SceneOf(kBase);
  const auto b = SceneOf(kBase);
  a->report.values[a->Find("h")].size = INT64_MAX / 2;
  EXPECT_FALSE(DiffOf(a->picture, b->picture).has_value());
  EXPECT_FALSE(DiffOf(b->picture, a->picture).has_value());
}

TEST(Diff, NamesOfGroups) {
  for (size_t i = 0; i < kGroups; ++i)
    EXPECT_EQ(FindGroup(Name(static_cast<Group>(i))), static_cast<Group>(i));
  EXPECT_FALSE(FindGroup("nothing").has_value());
}

}  // namespace
}  // namespace stowplan::diff
