// SPDX-License-Identifier: Apache-2.0
// A module read from its text and from its proto is the same program.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "hlo/equal.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

// module.hlo.pb -> module.txt
std::string TextOf(const std::string& proto) {
  constexpr std::string_view kEnding = ".hlo.pb";
  return proto.substr(0, proto.size() - kEnding.size()) + ".txt";
}

TEST(TextVersusProto, EveryPairIsTheSameProgram) {
  CountRows rows;  // pairs, instructions
  for (const std::string& proto : FilesBelow(STOWPLAN_CORPUS_DIR, ".hlo.pb")) {
    const std::string text = TextOf(proto);
    if (!std::filesystem::exists(text)) continue;
    const Result<hlo::Module> a = ReadModule(text);
    const Result<hlo::Module> b = ReadModule(proto);
    ASSERT_TRUE(a.has_value()) << Render(a.error());
    ASSERT_TRUE(b.has_value()) << Render(b.error());
    const std::vector<std::string> differences = hlo::Differences(*a, *b);
    rows[ArchiveOf(proto)] += {1, static_cast<int64_t>(b->instructions.size())};
    EXPECT_TRUE(differences.empty()) << proto << ": " << differences[0];
  }
  ExpectRows(rows, {
                       {"cpu", {54, 47172}},
                       {"cpu11", {54, 43165}},
                       {"explain", {114, 9512}},
                       {"gpu", {50, 35642}},
                       {"scale", {3, 136024}},
                       {"tpu", {54, 52018}},
                   });
}

// The comparison sees every change: a text in which one digit of an instruction is changed is
// another program, or no text any more.
TEST(TextVersusProto, AChangedDigitIsSeen) {
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15;  // spreads the places over the file
  int seen = 0;
  int refused = 0;
  for (const std::string& proto : CorpusFiles("cpu_after_optimizations.hlo.pb")) {
    const auto source = ReadSource(TextOf(proto));
    const Result<hlo::Module> b = ReadModule(proto);
    ASSERT_TRUE(source.has_value() && b.has_value()) << proto;
    std::string text((*source)->bytes());
    // Only lines of instructions: what stands in the head of a computation repeats them, and is not
    // read.
    size_t at = kStep % text.size();
    while (at < text.size()) {
      const size_t begin = text.rfind('\n', at) + 1;
      const bool is_instruction = text.compare(begin, 2, "  ") == 0;
      if (is_instruction && text[at] >= '0' && text[at] <= '9') break;
      ++at;
    }
    // A comment, /*index=5*/, says nothing.
    if (at == text.size() || text.compare(at < 6 ? 0 : at - 6, 6, "index=") == 0) continue;
    text[at] = text[at] == '9' ? '0' : static_cast<char>(text[at] + 1);
    const Result<hlo::Module> a = ParseModule(Source::FromBytes("changed", text));
    if (a) {
      EXPECT_FALSE(hlo::Differences(*a, *b).empty()) << TextOf(proto) << " at byte " << at;
      ++seen;
    } else {
      ++refused;
    }
  }
  EXPECT_EQ(seen, 46);
  EXPECT_EQ(refused, 62);
}

}  // namespace
}  // namespace stowplan
