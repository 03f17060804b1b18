// SPDX-License-Identifier: Apache-2.0
// Rewritings that are right and rewritings that are wrong.
#include "executable/thunk_check.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/executable/made_executable.h"

namespace stowplan::executable {
namespace {

using testing::IsEmpty;
using testing::Not;

using Thunks = std::vector<std::string>;

// Allocation 0 is an argument, 1 the result, 2 the heap.
const std::vector<MadeAllocation> kAllocations = {
    {MadeAs::kParameter, 64}, {MadeAs::kResult, 64}, {MadeAs::kTemporary, 256}};

Slice In() { return {0, 0, 64}; }
Slice Out() { return {1, 0, 64}; }
Slice Heap(int64_t offset) { return {2, offset, 64}; }

std::vector<std::string> Compare(const Thunks& original, const Thunks& rewritten) {
  const Executable a = Made(kAllocations, original);
  EXPECT_EQ(a.program.sequences.at(0).thunks.size(), original.size());
  return CompareThunks(a, Made(kAllocations, rewritten), DeclaredReads(a.program));
}

// x = f(in), y = g(x), z = h(in); out = k(y, z).
Thunks Straight(int64_t x, int64_t y, int64_t z) {
  return {Kernel("f", {In()}, {Heap(x)}), Kernel("g", {Heap(x)}, {Heap(y)}),
          Kernel("h", {In()}, {Heap(z)}), Kernel("k", {Heap(y), Heap(z)}, {Out()})};
}

TEST(CompareThunks, AcceptsOtherPlaces) {
  const Thunks original = Straight(0, 64, 128);
  EXPECT_THAT(Compare(original, original), IsEmpty());
  EXPECT_THAT(Compare(original, Straight(128, 0, 64)), IsEmpty());
  // x is dead when z is made.
  EXPECT_THAT(Compare(original, Straight(0, 64, 0)), IsEmpty());
}

TEST(CompareThunks, RefusesPlacesThatMeet) {
  EXPECT_THAT(Compare(Straight(0, 64, 128), Straight(0, 64, 64)), Not(IsEmpty()));
  EXPECT_THAT(Compare(Straight(0, 64, 128), Straight(0, 128, 64 + 128)), IsEmpty());
}

TEST(CompareThunks, RefusesASwappedSlice) {
  Thunks swapped = Straight(0, 64, 128);
  swapped[3] = Kernel("k", {Heap(128), Heap(64)}, {Out()});
  EXPECT_THAT(Compare(Straight(0, 64, 128), swapped), Not(IsEmpty()));
}

TEST(CompareThunks, AcceptsOtherOrdersThatKeepMeaning) {
  const Thunks t = Straight(0, 64, 128);
  EXPECT_THAT(Compare(t, {t[2], t[0], t[1], t[3]}), IsEmpty());
  EXPECT_THAT(Compare(t, {t[1], t[0], t[2], t[3]}), Not(IsEmpty()));
  EXPECT_THAT(Compare(t, {t[0], t[1], t[3], t[2]}), Not(IsEmpty()));
}

// x is made twice, so that its place is free in between.
TEST(CompareThunks, AcceptsAKernelThatRunsTwice) {
  const Thunks original = {Kernel("f", {In()}, {Heap(0)}), Kernel("g", {Heap(0)}, {Heap(64)}),
                           Kernel("k", {Heap(0), Heap(64)}, {Out()})};
  const Thunks twice = {Kernel("f", {In()}, {Heap(0)}), Kernel("g", {Heap(0)}, {Heap(64)}),
                        Kernel("f", {In()}, {Heap(128)}),
                        Kernel("k", {Heap(128), Heap(64)}, {Out()})};
  EXPECT_THAT(Compare(original, twice), IsEmpty());
  // The second one is lost: a checker of modules would not see it.
  EXPECT_THAT(Compare(original, {twice[0], twice[1], twice[3]}), Not(IsEmpty()));
}

// A copy of `f` has a name of its own, as in a module in which its instruction stands twice.
std::string CopyOfF(int64_t place) {
  return Renamed(Kernel("f", {In()}, {Heap(place)}), "f.remat");
}

struct Copied {
  Thunks original = {Kernel("f", {In()}, {Heap(0)}), Kernel("g", {Heap(0)}, {Heap(64)}),
                     Kernel("h", {Heap(64)}, {Heap(128)}),
                     Kernel("k", {Heap(0), Heap(128)}, {Out()})};
  // `h` lies where `f` did, and the copy of `f` where `g` did.
  Thunks rewritten = {original[0], original[1], Kernel("h", {Heap(64)}, {Heap(0)}), CopyOfF(64),
                      Kernel("k", {Heap(64), Heap(0)}, {Out()})};
};

TEST(CompareThunks, AcceptsCopies) {
  const Copied copied;
  EXPECT_THAT(Compare(copied.original, copied.rewritten), IsEmpty());
}

TEST(CompareThunks, RefusesALostCopy) {
  Copied copied;
  copied.rewritten.erase(copied.rewritten.begin() + 3);
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
}

TEST(CompareThunks, RefusesACopyAtTheWrongTime) {
  Copied copied;
  std::swap(copied.rewritten[2], copied.rewritten[3]);  // `h` reads what the copy wrote over
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
  copied = Copied();
  std::swap(copied.rewritten[3], copied.rewritten[4]);  // after its reader
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
}

TEST(CompareThunks, RefusesACopyInTheWrongPlace) {
  Copied copied;
  copied.rewritten[3] = CopyOfF(0);  // over what `h` made
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
  copied.rewritten[3] = CopyOfF(128);  // where nobody looks
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
  copied = Copied();
  copied.rewritten[4] = Kernel("k", {Heap(0), Heap(64)}, {Out()});  // swapped
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
}

TEST(CompareThunks, RefusesACopyOfAnotherKernel) {
  Copied copied;
  copied.rewritten[3] = Renamed(Kernel("g", {In()}, {Heap(64)}), "f.remat");
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
  copied.rewritten[3] = Renamed(Kernel("unknown", {In()}, {Heap(64)}), "f.remat");
  EXPECT_THAT(Compare(copied.original, copied.rewritten),
              testing::Contains("`f.remat` (kernel) is not a thunk of the original"));
  // In place, which the kernel was not compiled for.
  copied.rewritten[3] = Renamed(Kernel("g", {Heap(64)}, {Heap(64)}), "f.remat");
  EXPECT_THAT(Compare(copied.original, copied.rewritten), Not(IsEmpty()));
}

TEST(CompareThunks, RefusesACopyOfAnEffect) {
  const Thunks original = {CustomCall("a", In(), Heap(0)), Kernel("k", {Heap(0)}, {Out()})};
  const Thunks rewritten = {original[0], Renamed(CustomCall("a", In(), Heap(64)), "a.remat"),
                            original[1]};
  EXPECT_THAT(Compare(original, rewritten),
              testing::Contains("`a.remat` (custom-call) is not a thunk of the original"));
}

// A parameter that a result overwrites must not be read again afterwards.
TEST(CompareThunks, RefusesACopyThatReadsAnOverwrittenArgument) {
  const std::vector<MadeAllocation> donated = {{MadeAs::kDonated, 64}, {MadeAs::kTemporary, 256}};
  const auto heap = [](int64_t offset) { return Slice{1, offset, 64}; };
  const Thunks original = {Kernel("f", {In()}, {heap(0)}), Kernel("g", {In()}, {heap(64)}),
                           Kernel("update", {heap(64)}, {In()}), Kernel("last", {heap(0)}, {In()})};
  Thunks rewritten = original;
  rewritten.insert(rewritten.begin() + 2, Renamed(Kernel("f", {In()}, {heap(128)}), "f.remat"));
  rewritten.back() = Kernel("last", {heap(128)}, {In()});
  const Executable a = Made(donated, original);
  EXPECT_THAT(CompareThunks(a, Made(donated, rewritten), DeclaredReads(a.program)), IsEmpty());
  std::swap(rewritten[2], rewritten[3]);  // the copy comes after the update
  EXPECT_THAT(CompareThunks(a, Made(donated, rewritten), DeclaredReads(a.program)), Not(IsEmpty()));
}

TEST(AddCopy, IsWrittenUnderItsName) {
  const Copied copied;
  const Executable original = Made(kAllocations, copied.original);
  Program program = original.program;
  const uint32_t copy = AddCopy(program, 0, "f.remat");
  program.slots[program.thunks[copy].slots.begin + 1].slice = Heap(64);
  program.slots[program.thunks[2].slots.begin + 1].slice = Heap(0);
  program.slots[program.thunks[3].slots.begin].slice = Heap(64);
  program.slots[program.thunks[3].slots.begin + 1].slice = Heap(0);
  program.sequences[0].thunks = {0, 1, 2, copy, 3};
  const std::vector<std::string> thunks = EncodeThunks(program);
  EXPECT_THAT(Compare(copied.original, thunks), IsEmpty());
  const Executable again = Made(kAllocations, thunks);
  EXPECT_EQ(again.program.thunks[3].name, "f.remat");
  EXPECT_EQ(again.program.slots_of(again.program.thunks[3])[1].slice, Heap(64));
}

TEST(CompareThunks, RefusesOtherKernels) {
  Thunks other = Straight(0, 64, 128);
  other[2] = Kernel("g", {In()}, {Heap(128)});
  EXPECT_THAT(Compare(Straight(0, 64, 128), other), Not(IsEmpty()));
  other[2] = Kernel("h", {{0, 0, 32}}, {Heap(128)});
  EXPECT_THAT(Compare(Straight(0, 64, 128), other), Not(IsEmpty()));
}

TEST(CompareThunks, RefusesSharingThatKernelsWereNotCompiledFor) {
  const Thunks apart = {Kernel("f", {In()}, {Heap(0)}), Kernel("g", {Heap(0)}, {Heap(64)}),
                        Kernel("k", {Heap(64)}, {Out()})};
  const Thunks together = {Kernel("f", {In()}, {Heap(0)}), Kernel("g", {Heap(0)}, {Heap(0)}),
                           Kernel("k", {Heap(0)}, {Out()})};
  EXPECT_THAT(Compare(apart, together),
              testing::Contains("`g` (kernel) shares memory as it was not compiled for"));
  EXPECT_THAT(Compare(together, apart), Not(IsEmpty()));
}

TEST(CompareThunks, RefusesWritingArguments) {
  const Thunks original = {Kernel("f", {In()}, {Heap(0)}), Kernel("k", {Heap(0)}, {Out()})};
  const Thunks rewritten = {Kernel("f", {In()}, {Heap(0)}), Kernel("f", {In()}, {Heap(64)}),
                            Kernel("k", {Heap(0)}, {Out()})};
  EXPECT_THAT(Compare(original, rewritten), IsEmpty());
  const std::vector<MadeAllocation> two = {{MadeAs::kParameter, 64},
                                           {MadeAs::kResult, 64},
                                           {MadeAs::kTemporary, 256},
                                           {MadeAs::kParameter, 64}};
  const Executable a = Made(two, original);
  const Executable b =
      Made(two, {Kernel("f", {In()}, {{3, 0, 64}}), Kernel("k", {{3, 0, 64}}, {Out()})});
  EXPECT_THAT(CompareThunks(a, b, DeclaredReads(a.program)),
              testing::Contains("allocation 3 belongs to the caller and is written now"));
}

TEST(CompareThunks, RefusesSlicesOutsideAndOtherAllocations) {
  EXPECT_THAT(Compare(Straight(0, 64, 128), Straight(0, 64, 200)), Not(IsEmpty()));
  std::vector<MadeAllocation> allocations = kAllocations;
  const Executable original = Made(allocations, Straight(0, 64, 128));
  allocations[2].size = 192;  // the heap may shrink
  EXPECT_THAT(CompareThunks(original, Made(allocations, Straight(0, 64, 128)),
                            DeclaredReads(original.program)),
              IsEmpty());
  allocations[1].size = 128;  // the result may not grow
  EXPECT_THAT(CompareThunks(original, Made(allocations, Straight(0, 64, 128)),
                            DeclaredReads(original.program)),
              Not(IsEmpty()));
}

TEST(CompareThunks, RefusesLessAlignment) {
  EXPECT_THAT(Compare(Straight(0, 64, 128), Straight(0, 64 + 8, 128 + 8)), Not(IsEmpty()));
}

TEST(CompareThunks, KeepsEffects) {
  const Thunks original = {CustomCall("a", In(), Heap(0)), CustomCall("b", In(), Heap(64)),
                           Kernel("k", {Heap(0), Heap(64)}, {Out()})};
  EXPECT_THAT(Compare(original, original), IsEmpty());
  EXPECT_THAT(Compare(original, {original[1], original[0], original[2]}), Not(IsEmpty()));
  EXPECT_THAT(Compare(original, {original[0], original[0], original[1], original[2]}),
              Not(IsEmpty()));
}

// A state at `state` is advanced by a loop, with a temporary at `scratch`.
Thunks Loop(int64_t state, int64_t scratch, int64_t predicate, int64_t kept) {
  return {Kernel("start", {In()}, {Heap(state)}), Kernel("keep", {In()}, {Heap(kept)}),
          While("loop", {Kernel("ask", {Heap(state)}, {{2, predicate, 1}})},
                {Kernel("first", {Heap(state)}, {Heap(scratch)}),
                 Kernel("second", {Heap(scratch)}, {Heap(state)})},
                {2, predicate, 1}),
          Kernel("k", {Heap(state), Heap(kept)}, {Out()})};
}

TEST(CompareThunks, FollowsLoops) {
  const Thunks original = Loop(0, 64, 128, 192);
  EXPECT_THAT(Compare(original, original), IsEmpty());
  EXPECT_THAT(Compare(original, Loop(192, 128, 64, 0)), IsEmpty());
  // The predicate is dead while the body runs.
  EXPECT_THAT(Compare(original, Loop(0, 64, 64, 192)), IsEmpty());
  // What is kept across the loop is overwritten in it.
  EXPECT_THAT(Compare(original, Loop(0, 64, 128, 64)), Not(IsEmpty()));
  // The state is overwritten by the predicate.
  EXPECT_THAT(Compare(original, Loop(0, 64, 0, 192)), Not(IsEmpty()));
}

TEST(CompareThunks, SeesWhatChangesInTheSecondIterationOnly) {
  // The body reads `other`, which it overwrites afterwards if it lies in the same place.
  const auto loop = [](int64_t other) {
    return Thunks{Kernel("start", {In()}, {Heap(0)}), Kernel("other", {In()}, {Heap(other)}),
                  While("loop", {Kernel("ask", {Heap(0)}, {{2, 192, 1}})},
                        {Kernel("both", {Heap(0), Heap(other)}, {Heap(64)}),
                         Kernel("step", {Heap(64)}, {Heap(0)})},
                        {2, 192, 1}),
                  Kernel("k", {Heap(0)}, {Out()})};
  };
  const Executable a = Made(kAllocations, loop(128));
  EXPECT_THAT(CompareThunks(a, a, DeclaredReads(a.program)), IsEmpty());
  // The predicate overwrites `other`.
  EXPECT_THAT(Compare(loop(128), loop(192)), Not(IsEmpty()));
}

TEST(CompareThunks, FollowsBranches) {
  const auto branches = [](int64_t result, int64_t scratch, int64_t kept) {
    return Thunks{Kernel("keep", {In()}, {Heap(kept)}),
                  Conditional("switch",
                              {{Kernel("a", {In()}, {Heap(result)})},
                               {Kernel("b", {In()}, {Heap(scratch)}),
                                Kernel("c", {Heap(scratch)}, {Heap(result)})}},
                              {0, 0, 4}),
                  Kernel("k", {Heap(result), Heap(kept)}, {Out()})};
  };
  EXPECT_THAT(Compare(branches(0, 64, 128), branches(0, 64, 128)), IsEmpty());
  EXPECT_THAT(Compare(branches(0, 64, 128), branches(128, 0, 64)), IsEmpty());
  EXPECT_THAT(Compare(branches(0, 64, 128), branches(0, 64, 64)), Not(IsEmpty()));
}

TEST(FindObstacles, NamesWhatIsNotKnown) {
  EXPECT_THAT(FindObstacles(Made(kAllocations, Straight(0, 64, 128))), IsEmpty());
  const Executable unknown = Made(kAllocations, {ThunkMessage("new", 63, "")});
  EXPECT_THAT(FindObstacles(unknown),
              testing::ElementsAre("the thunk of `new` is of a kind, or has a field, that is not "
                                   "known (field 63)"));
  // A field that a newer release added may hold a slice.
  std::string kernel = Message({{1, "kernel"}, {40, "new"}});
  EXPECT_THAT(FindObstacles(Made(kAllocations, {ThunkMessage("new", 11, kernel)})), Not(IsEmpty()));
}

}  // namespace
}  // namespace stowplan::executable
