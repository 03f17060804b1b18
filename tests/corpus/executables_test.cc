// SPDX-License-Identifier: Apache-2.0
// Executables as jaxlib wrote them.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "executable/executable.h"
#include "executable/thunk_check.h"
#include "stowplan/session.h"

namespace stowplan {
namespace {

using executable::Executable;

std::vector<std::string> ExecutableFiles(const std::set<std::string>& endings) {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(STOWPLAN_CORPUS_DIR "/executables")) {
    if (entry.is_regular_file() && endings.contains(entry.path().extension().string()))
      out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

TEST(Executables, ComeBackByteForByte) {
  int count = 0;
  for (const std::string& file : ExecutableFiles({".bin"})) {
    const auto source = ReadSource(file);
    ASSERT_TRUE(source);
    const auto read = executable::ReadExecutable(*source);
    ASSERT_TRUE(read) << Render(read.error());
    for (const executable::Thunk& thunk : read->program.thunks)
      EXPECT_TRUE(thunk.is_understood) << file << ": " << thunk.name;
    const auto written = executable::WriteExecutable(*read, {.program = &read->program});
    ASSERT_TRUE(written);
    EXPECT_TRUE(*written == (*source)->bytes()) << file;
    ++count;
  }
  EXPECT_EQ(count, 46);
}

// The heap moved, in thunks and plan: the same program.
TEST(Executables, MayHaveTheirHeapElsewhere) {
  for (const std::string& file : ExecutableFiles({".bin"})) {
    const auto source = ReadSource(file);
    const auto original = executable::ReadExecutable(*source);
    ASSERT_TRUE(original);
    Executable moved = *original;
    constexpr int64_t kDistance = 1 << 20;
    for (executable::Allocation& allocation : moved.assignment.allocations) {
      if (allocation.is_temporary()) allocation.size += kDistance;
    }
    const auto move = [&](executable::Slice& slice) {
      const auto& allocations = original->assignment.allocations;
      if (allocations.at(static_cast<size_t>(slice.allocation)).is_temporary())
        slice.offset += kDistance;
    };
    for (auto& [buffer, place] : moved.assignment.places) move(place);
    for (executable::Slot& slot : moved.program.slots) move(slot.slice);
    const auto bytes = executable::WriteExecutable(
        *original, {.assignment = moved.assignment, .program = &moved.program});
    ASSERT_TRUE(bytes);
    const auto rewritten = executable::ReadExecutable(Source::FromBytes(file, *bytes));
    ASSERT_TRUE(rewritten) << Render(rewritten.error());
    EXPECT_EQ(rewritten->assignment.places, moved.assignment.places) << file;
    for (const std::string& finding : executable::CompareThunks(
             *original, *rewritten, executable::DeclaredReads(original->program)))
      ADD_FAILURE() << file << ": " << finding;
  }
}

// Without one of its thunks, or with two neighbours that depend on each other exchanged, a program
// is another one.
TEST(Executables, LoseNoThunkUnnoticed) {
  int tried = 0;
  int accepted = 0;
  for (const std::string& file : ExecutableFiles({".bin"})) {
    const auto source = ReadSource(file);
    const auto original = executable::ReadExecutable(*source);
    ASSERT_TRUE(original);
    for (size_t row = 0; row < original->program.sequences.size(); ++row) {
      const size_t size = original->program.sequences[row].thunks.size();
      for (size_t i = 0; i < size; i += 1 + size / 16) {
        Executable damaged = *original;
        auto& thunks = damaged.program.sequences[row].thunks;
        thunks.erase(thunks.begin() + static_cast<std::ptrdiff_t>(i));
        ++tried;
        accepted += executable::CompareThunks(*original, damaged,
                                              executable::DeclaredReads(original->program))
                            .empty()
                        ? 1
                        : 0;
      }
    }
  }
  EXPECT_GT(tried, 500);
  EXPECT_EQ(accepted, 0);
}

TEST(Executables, AreInputsLikeOthers) {
  for (const std::string& file : ExecutableFiles({".bin", ".pickle", ".zlib", ".zst"})) {
    const auto inputs = Open({file});
    ASSERT_TRUE(inputs) << Render(inputs.error());
    const auto planned = LoadOne(*inputs, {});
    ASSERT_TRUE(planned) << Render(planned.error());
    const auto checked = Check(*planned, {});
    ASSERT_TRUE(checked) << Render(checked.error());
    EXPECT_EQ(Name(checked->verdict.soundness), "sound") << file;
  }
}

}  // namespace
}  // namespace stowplan
