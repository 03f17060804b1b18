// SPDX-License-Identifier: Apache-2.0
// Every module of the corpus is read and verified without complaint, and its numbers can be
// counted.
#include "hlo/verify.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "stowplan/session.h"
#include "target/stats.h"

namespace stowplan {
namespace {

struct Count {
  int modules = 0;
  int64_t instructions = 0;
  int complaining = 0;
};

void VerifyAll(const std::vector<std::string>& files) {
  std::map<std::string, Count> counts;
  for (const std::string& file : files) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << Render(module.error());
    Count& count = counts[ArchiveOf(file)];
    ++count.modules;
    count.instructions += static_cast<int64_t>(module->instructions.size());
    const Diagnostics complaints = hlo::Verify(*module);
    EXPECT_TRUE(complaints.empty()) << Render(complaints[0]);
    if (!complaints.empty()) ++count.complaining;
    for (const Target& target : Targets()) {
      EXPECT_TRUE(ComputeStats(*module, {.target = target}).has_value())
          << file << " " << target.name;
    }
  }
  int total = 0;
  for (const auto& [archive, count] : counts) {
    std::cout << archive << ": " << count.modules << " modules, " << count.instructions
              << " instructions, " << count.complaining << " with complaints\n";
    total += count.modules;
  }
  std::cout << "total: " << total << " modules\n";
  EXPECT_GT(total, 0);
}

TEST(CorpusVerify, Texts) { VerifyAll(CorpusTexts()); }

TEST(CorpusVerify, Protos) { VerifyAll(CorpusProtos()); }

}  // namespace
}  // namespace stowplan
