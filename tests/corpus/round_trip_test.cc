// SPDX-License-Identifier: Apache-2.0
// Every module text of the corpus prints back byte for byte.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "hlo/print.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/dialect.h"
#include "text/parse.h"

namespace stowplan {
namespace {

struct Count {
  int equal = 0;
  int all = 0;
};

// All are equal, and there are so many of them.
void ExpectCounts(const std::map<std::string, Count>& counts, const CountRows& recorded) {
  CountRows rows;
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(count.equal, count.all) << name;
    rows[name] = {count.all};
  }
  ExpectRows(rows, recorded);
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
  for (const std::string& file : CorpusTexts()) {
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
  ExpectCounts(counts, {
                           {"cpu", {54}},
                           {"cpu11", {54}},
                           {"dialects", {265}},
                           {"gpu", {50}},
                           {"scale", {3}},
                           {"tpu", {108}},
                       });
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
  ExpectCounts(counts,
               {
                   {"jaxlib-0.10.0", {7}},    {"jaxlib-0.10.2", {66}},  {"jaxlib-0.11.2", {107}},
                   {"jaxlib-0.4.13", {7}},    {"jaxlib-0.4.25", {7}},   {"jaxlib-0.4.30", {7}},
                   {"jaxlib-0.4.35", {7}},    {"jaxlib-0.5.0", {7}},    {"jaxlib-0.6.0", {7}},
                   {"jaxlib-0.7.2", {7}},     {"jaxlib-0.8.2", {7}},    {"jaxlib-0.9.0", {7}},
                   {"libtpu-0.0.13", {14}},   {"libtpu-0.0.2", {14}},   {"libtpu-0.0.23.1", {14}},
                   {"libtpu-0.0.32.1", {14}}, {"libtpu-0.0.51", {196}}, {"libtpu-0.0.8", {4}},
                   {"tf-2.11", {7}},          {"tf-2.2", {7}},          {"tf-2.4", {7}},
                   {"tf-2.6", {7}},           {"tf-2.8", {7}},
               });
}

}  // namespace
}  // namespace stowplan
