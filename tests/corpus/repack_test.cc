// SPDX-License-Identifier: Apache-2.0
// Executables of the corpus with lower plans. tests/python/repack_test.py runs them.
#include "repack/repack.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "executable/executable.h"
#include "executable/thunk_check.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

std::vector<std::string> Files(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(STOWPLAN_CORPUS_DIR "/executables/" + folder)) {
    if (entry.path().extension() == ".bin") out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

repack::Repacked Repacked(const std::string& file) {
  const auto source = ReadSource(file);
  EXPECT_TRUE(source);
  const auto repacked = repack::Repack(*source, {});
  EXPECT_TRUE(repacked) << Render(repacked.error());
  return *repacked;
}

// No program of these releases is refused, and what is written says what was promised.
TEST(Repack, LowersPlans) {
  std::map<std::string, int> lowered;
  for (const std::string folder : {"cpu-0.6.2", "cpu-0.10.2", "cpu-0.11.2", "gpu-0.11.2"}) {
    for (const std::string& file : Files(folder)) {
      const repack::Repacked repacked = Repacked(file);
      EXPECT_LE(repacked.bytes_after, repacked.bytes_before) << file;
      EXPECT_LE(repacked.bound, repacked.bytes_after) << file;
      EXPECT_EQ(repacked.bytes.empty(), repacked.bytes_after == repacked.bytes_before) << file;
      for (const std::string& refusal : repacked.refusals)
        EXPECT_TRUE(refusal.starts_with("another order: ")) << file << ": " << refusal;
      if (repacked.bytes.empty()) continue;
      ++lowered[folder];
      const auto after = executable::ReadExecutable(Source::FromBytes(file, repacked.bytes));
      ASSERT_TRUE(after) << file;
      int64_t temporaries = 0;
      for (const executable::Allocation& allocation : after->assignment.allocations) {
        if (allocation.is_temporary()) temporaries += allocation.size;
      }
      EXPECT_EQ(temporaries, repacked.bytes_after) << file;
    }
  }
  EXPECT_EQ(lowered,
            (std::map<std::string, int>{
                {"cpu-0.6.2", 8}, {"cpu-0.10.2", 8}, {"cpu-0.11.2", 8}, {"gpu-0.11.2", 2}}));
}

TEST(Repack, FindsALowerOrder) {
  const std::string file = STOWPLAN_CORPUS_DIR "/executables/cpu-0.11.2/conv.bin";
  const repack::Repacked repacked = Repacked(file);
  EXPECT_EQ(repacked.bytes_before, 176128);
  EXPECT_EQ(repacked.bytes_after, 131072);
  EXPECT_EQ(repacked.bound, 131072);
  EXPECT_GT(repacked.moved_thunks, 0);
  const auto source = ReadSource(file);
  const auto kept = repack::Repack(*source, {.reorders = false});
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->bytes.empty());
}

// A plan that XLA's rules do not lead to is left alone: here, one value lies elsewhere.
TEST(Repack, RefusesOtherPlans) {
  const auto source = ReadSource(STOWPLAN_CORPUS_DIR "/executables/cpu-0.11.2/conv.bin");
  const auto original = executable::ReadExecutable(*source);
  ASSERT_TRUE(original);
  executable::Assignment assignment = original->assignment;
  for (auto& [buffer, place] : assignment.places) {
    if (!assignment.allocations[static_cast<size_t>(place.allocation)].is_temporary()) continue;
    assignment.allocations[static_cast<size_t>(place.allocation)].size += 64;
    break;
  }
  const auto bytes = executable::WriteExecutable(*original, {.assignment = assignment});
  ASSERT_TRUE(bytes);
  const auto repacked = repack::Repack(Source::FromBytes("other", *bytes), {});
  ASSERT_TRUE(repacked);
  EXPECT_TRUE(repacked->bytes.empty());
  ASSERT_EQ(repacked->refusals.size(), 1);
  EXPECT_NE(repacked->refusals[0].find("not the one that XLA's rules lead to"), std::string::npos);
}

TEST(Repack, RefusesThunksThatItDoesNotKnow) {
  const auto source = ReadSource(STOWPLAN_CORPUS_DIR "/executables/cpu-0.11.2/conv.bin");
  const auto original = executable::ReadExecutable(*source);
  ASSERT_TRUE(original);
  executable::Program program = original->program;
  std::string strange(program.thunks[0].bytes);
  strange += "\xba\x03\x01x";  // field 55
  program.thunks[0].bytes = strange;
  const auto bytes = executable::WriteExecutable(*original, {.program = &program});
  ASSERT_TRUE(bytes);
  const auto repacked = repack::Repack(Source::FromBytes("strange", *bytes), {});
  ASSERT_TRUE(repacked);
  EXPECT_TRUE(repacked->bytes.empty());
  ASSERT_EQ(repacked->refusals.size(), 1);
  EXPECT_NE(repacked->refusals[0].find("not known"), std::string::npos);
}

}  // namespace
}  // namespace stowplan
