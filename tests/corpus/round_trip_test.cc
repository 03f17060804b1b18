// SPDX-License-Identifier: Apache-2.0
// Every module text of the corpus prints back byte for byte.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/corpus_files.h"
#include "hlo/print.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/dialect.h"
#include "text/parse.h"

namespace stowplan {
namespace {

// In the repository's copy of the corpus; a test that finds fewer has not looked everywhere.
constexpr int kModules = 534;

struct Count {
  int equal = 0;
  int all = 0;
};

void Print(const std::map<std::string, Count>& counts) {
  Count total;
  for (const auto& [name, count] : counts) {
    std::cout << name << ": equal " << count.equal << " of " << count.all << "\n";
    total.equal += count.equal;
    total.all += count.all;
  }
  std::cout << "all: equal " << total.equal << " of " << total.all << "\n";
}

// Where two texts part, with what stands around it.
std::string FirstDifference(std::string_view expected, std::string_view got) {
  const size_t shorter = std::min(expected.size(), got.size());
  size_t at = 0;
  while (at < shorter && expected[at] == got[at]) ++at;
  if (at == shorter && expected.size() == got.size()) return "none";
  const size_t begin = at - std::min<size_t>(at, 80);
  return "at byte " + std::to_string(at) +
         "\n  dumped:  " + std::string(expected.substr(begin, 200)) +
         "\n  printed: " + std::string(got.substr(begin, 200));
}

TEST(CorpusRoundTrip, EveryDumpedTextPrintsBack) {
  std::map<std::string, Count> counts;
  int all = 0;
  for (const std::string& file : CorpusTexts()) {
    ++all;
    Count& count = counts[ArchiveOf(file)];
    ++count.all;
    const auto source = ReadSource(file);
    ASSERT_TRUE(source) << Render(source.error());
    const auto module = ParseText(*source);
    if (!module) {
      ADD_FAILURE() << Render(module.error());
      continue;
    }
    EXPECT_TRUE(module->warnings.empty()) << Render(module->warnings);
    const std::string printed = hlo::ToString(*module);
    if (printed == (*source)->bytes()) {
      ++count.equal;
    } else {
      ADD_FAILURE() << file << " " << FirstDifference((*source)->bytes(), printed);
    }
  }
  Print(counts);
  EXPECT_EQ(all, kModules);
  for (const auto& [name, count] : counts) EXPECT_EQ(count.equal, count.all) << name;
}

// The name of the compiler alone must be enough to print the way it did.
TEST(CorpusRoundTrip, NamedDialectsPrintWhatTheirCompilersWrote) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusTexts()) {
    const std::string_view compiler = CompilerOf(file);
    const std::optional<hlo::Dialect> dialect = hlo::FindDialect(compiler);
    ASSERT_TRUE(dialect) << file << ": no dialect '" << compiler << "'";
    Count& count = counts[std::string(compiler)];
    ++count.all;
    const auto source = ReadSource(file);
    ASSERT_TRUE(source) << Render(source.error());
    const auto module = ParseText(*source);
    ASSERT_TRUE(module) << Render(module.error());
    const std::string printed = hlo::ToString(*module, *dialect);
    if (printed == (*source)->bytes()) {
      ++count.equal;
    } else {
      ADD_FAILURE() << file << " in dialect " << compiler << " "
                    << FirstDifference((*source)->bytes(), printed);
    }
  }
  Print(counts);
}

}  // namespace
}  // namespace stowplan
