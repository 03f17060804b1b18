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
#include "executable/sharing.h"
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

repack::Repacked RepackedWith(const std::string& file, const repack::RepackOptions& options) {
  const auto source = ReadSource(file);
  EXPECT_TRUE(source);
  const auto repacked = repack::Repack(*source, options);
  EXPECT_TRUE(repacked) << Render(repacked.error());
  return *repacked;
}

const std::string kMlp = STOWPLAN_CORPUS_DIR "/executables/cpu-0.11.2/mlp.bin";

TEST(Repack, ComputesValuesAgain) {
  const repack::Repacked once = Repacked(kMlp);
  EXPECT_EQ(once.copied_thunks, 0);
  const repack::Repacked twice = RepackedWith(kMlp, {.max_cost = 1});
  EXPECT_LT(twice.bytes_after, once.bytes_after);
  EXPECT_GT(twice.copied_thunks, 0);
  EXPECT_GT(twice.cost, 0);
  ASSERT_FALSE(twice.repeats.empty());
  EXPECT_TRUE(twice.repeats[0].source.starts_with("executables.py:")) << twice.repeats[0].source;
  const auto before = executable::ReadExecutable(*ReadSource(kMlp));
  const auto after = executable::ReadExecutable(Source::FromBytes("twice", twice.bytes));
  ASSERT_TRUE(before && after);
  EXPECT_EQ(static_cast<int64_t>(after->program.thunks.size()),
            static_cast<int64_t>(before->program.thunks.size()) + twice.copied_thunks);
  // No cost is allowed: nothing runs twice.
  EXPECT_EQ(RepackedWith(kMlp, {.max_cost = 0}).copied_thunks, 0);
}

TEST(Repack, StopsWhereItFits) {
  const repack::Repacked once = Repacked(kMlp);
  const repack::Repacked lowest = RepackedWith(kMlp, {.max_cost = 1});
  const int64_t enough = once.fixed_bytes + once.bytes_after;
  const repack::Repacked easy = RepackedWith(kMlp, {.budget = enough});
  EXPECT_EQ(easy.copied_thunks, 0);
  EXPECT_TRUE(easy.fits());
  const repack::Repacked tight = RepackedWith(kMlp, {.budget = enough - 1});
  EXPECT_GT(tight.copied_thunks, 0);
  EXPECT_TRUE(tight.fits());
  const repack::Repacked hard = RepackedWith(kMlp, {.budget = 1});
  EXPECT_FALSE(hard.fits());
  EXPECT_EQ(hard.bytes_after, lowest.bytes_after);
}

TEST(Repack, MoreWorkNeedsNoMoreMemory) {
  int64_t least = RepackedWith(kMlp, {}).bytes_after;
  for (const double cost : {0.02, 0.05, 0.1, 0.2, 0.4, 1.0}) {
    const int64_t bytes = RepackedWith(kMlp, {.max_cost = cost}).bytes_after;
    EXPECT_LE(bytes, least) << cost;
    least = bytes;
  }
}

// Mistakes of a rewriting that computes values again: every one is found.
TEST(Repack, MistakesWithCopiesAreFound) {
  const auto before = executable::ReadExecutable(*ReadSource(kMlp));
  const repack::Repacked twice = RepackedWith(kMlp, {.max_cost = 1});
  const auto after = executable::ReadExecutable(Source::FromBytes("twice", twice.bytes));
  ASSERT_TRUE(before && after);
  const std::vector<bool> reads = executable::DeclaredReads(before->program);
  const auto is_right = [&](const executable::Program& program) {
    const auto bytes = executable::WriteExecutable(*after, {.program = &program});
    EXPECT_TRUE(bytes);
    const auto wrong = executable::ReadExecutable(Source::FromBytes("wrong", *bytes));
    EXPECT_TRUE(wrong);
    return executable::CompareThunks(*before, *wrong, reads).empty();
  };
  EXPECT_TRUE(is_right(after->program));
  const std::vector<uint32_t>& order = after->program.sequences[0].thunks;
  for (size_t i = 0; i < order.size(); ++i) {
    executable::Program lost = after->program;
    lost.sequences[0].thunks.erase(lost.sequences[0].thunks.begin() +
                                   static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(is_right(lost)) << "without thunk " << i;
    const Range slots = after->program.thunks[order[i]].slots;
    for (uint32_t slot = slots.begin; slot < slots.begin + slots.count; ++slot) {
      executable::Program moved = after->program;
      executable::Slice& slice = moved.slots[slot].slice;
      const executable::Allocation& allocation =
          after->assignment.allocations[static_cast<size_t>(slice.allocation)];
      if (!allocation.is_temporary() || slice.size < 1024) continue;
      slice.offset += slice.offset + slice.size + 64 <= allocation.size ? 64 : -64;
      EXPECT_FALSE(is_right(moved)) << "slot " << slot << " of thunk " << i;
    }
  }
  // Neighbours that read each other's results, the other way round.
  executable::Program reversed = after->program;
  std::ranges::reverse(reversed.sequences[0].thunks);
  EXPECT_FALSE(is_right(reversed));
}

// A GPU's runtime knows thunks by numbers, so a copy needs its own.
TEST(Repack, CopiesOfGpuThunksHaveNumbers) {
  const auto original = executable::ReadExecutable(
      *ReadSource(STOWPLAN_CORPUS_DIR "/executables/gpu-0.11.2/mlp_checkpoint.bin"));
  ASSERT_TRUE(original);
  executable::Program program = original->program;
  std::vector<uint32_t>& order = program.sequences[0].thunks;
  const auto kernel = std::ranges::find_if(order, [&](uint32_t row) {
    const executable::Thunk& thunk = program.thunks[row];
    return thunk.kind->name == "custom-kernel" && thunk.number &&
           executable::SharingOf(program.slots_of(thunk)).empty();
  });
  ASSERT_NE(kernel, order.end());
  const uint32_t row = *kernel;
  const uint32_t copy = executable::AddCopy(program, row, "copy");
  order.insert(std::ranges::find(order, row) + 1, copy);
  const auto check = [&] {
    const auto bytes = executable::WriteExecutable(*original, {.program = &program});
    EXPECT_TRUE(bytes);
    const auto again = executable::ReadExecutable(Source::FromBytes("copied", *bytes));
    EXPECT_TRUE(again);
    return executable::CompareThunks(*original, *again,
                                     executable::DeclaredReads(original->program));
  };
  EXPECT_NE(program.thunks[copy].number, program.thunks[row].number);
  program.thunks[copy].number = program.thunks[row].number;
  EXPECT_EQ(check(), std::vector<std::string>{"two thunks have the same number"});
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
