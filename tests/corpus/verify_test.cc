// SPDX-License-Identifier: Apache-2.0
// Every module of the corpus is read and verified without complaint, and its numbers can be
// counted.
#include "hlo/verify.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "corpus/recorded.h"
#include "stowplan/session.h"
#include "target/stats.h"

namespace stowplan {
namespace {

void VerifyAll(const std::vector<std::string>& files, const CountRows& recorded) {
  CountRows rows;  // modules, instructions, extracted modules
  for (const std::string& file : files) {
    const Result<hlo::Module> module = ReadModule(file);
    ASSERT_TRUE(module.has_value()) << Render(module.error());
    // What the SparseCore executes was taken out of a program, and still has that program's entry
    // layout.
    const bool is_extracted = file.find("/extracted") != std::string::npos;
    rows[ArchiveOf(file)] +=
        {1, static_cast<int64_t>(module->instructions.size()), is_extracted ? 1 : 0};
    for (const Diagnostic& complaint : hlo::Verify(*module)) {
      const bool is_of_layout = complaint.message.starts_with("entry_computation_layout ") ||
                                complaint.message.starts_with("input_output_alias: ");
      EXPECT_TRUE(is_extracted && is_of_layout) << Render(complaint);
    }
    for (const Target& target : Targets()) {
      EXPECT_TRUE(ComputeStats(*module, {.target = target}).has_value())
          << file << " " << target.name;
    }
  }
  ExpectRows(rows, recorded);
}

TEST(CorpusVerify, Texts) {
  VerifyAll(CorpusTexts(), {
                               {"cpu", {54, 47172, 0}},
                               {"cpu11", {54, 43165, 0}},
                               {"dialects", {265, 13633, 0}},
                               {"gpu", {50, 35642, 0}},
                               {"scale", {3, 136024, 0}},
                               {"tpu", {108, 94355, 0}},
                           });
}

TEST(CorpusVerify, Protos) {
  VerifyAll(FilesBelow(STOWPLAN_CORPUS_DIR, ".hlo.pb"), {
                                                            {"cpu", {54, 47172, 0}},
                                                            {"cpu11", {54, 43165, 0}},
                                                            {"explain", {114, 9512, 0}},
                                                            {"gpu", {50, 35642, 0}},
                                                            {"oracle", {756, 99000, 10}},
                                                            {"oracle_tpu", {9, 2623, 0}},
                                                            {"scale", {3, 136024, 0}},
                                                            {"tpu", {54, 52018, 0}},
                                                        });
}

}  // namespace
}  // namespace stowplan
