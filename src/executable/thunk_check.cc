// SPDX-License-Identifier: Apache-2.0
#include "executable/thunk_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "executable/execute.h"
#include "executable/sharing.h"

namespace stowplan::executable {
namespace {

// Sentences about single thunks stop after so many.
constexpr size_t kMaxSentences = 10;
// Nested loops are executed several times for each level; beyond this many executions of thunks for
// each that there is, the check gives up.
constexpr uint64_t kMaxExecutions = 1024;
constexpr int kMaxAttempts = 64;
// To what XLA aligns the data of kernels, at most.
int64_t MostAlignment(Platform platform) { return platform == Platform::kCpu ? 64 : 256; }

using Sentences = std::vector<std::string>;

void Add(std::string sentence, Sentences& out) {
  if (out.size() < kMaxSentences) out.push_back(std::move(sentence));
}

std::string ThunkText(const Thunk& thunk) {
  return fmt::format("`{}` ({})", thunk.name, thunk.kind != nullptr ? thunk.kind->name : "unknown");
}

bool IsInside(const Slice& slice, const Assignment& assignment) {
  if (slice.allocation < 0 || slice.offset < 0 || slice.size < 0 ||
      slice.allocation >= static_cast<int64_t>(assignment.allocations.size())) {
    return false;
  }
  const std::optional<int64_t> end = CheckedAdd(slice.offset, slice.size);
  return end && *end <= assignment.allocations[static_cast<size_t>(slice.allocation)].size;
}

void FindBadSlots(const Executable& executable, Sentences& out) {
  for (const Thunk& thunk : executable.program.thunks) {
    for (const Slot& slot : executable.program.slots_of(thunk)) {
      if (!IsInside(slot.slice, executable.assignment)) {
        Add(fmt::format("{} uses bytes {} to {} of allocation {}, which does not have them",
                        ThunkText(thunk), slot.slice.offset, slot.slice.size,
                        slot.slice.allocation),
            out);
      }
    }
  }
}

// ---- Comparison

bool IsSameAllocation(const Allocation& a, const Allocation& b) {
  return a.color == b.color && a.is_thread_local == b.is_thread_local &&
         a.is_parameter == b.is_parameter && a.is_live_out == b.is_live_out &&
         a.is_tuple == b.is_tuple && a.is_constant == b.is_constant &&
         (a.size == b.size || a.is_temporary());
}

void CompareAllocations(const Assignment& original, const Assignment& rewritten, Sentences& out) {
  if (original.allocations.size() != rewritten.allocations.size())
    return Add("the number of allocations changed", out);
  for (size_t i = 0; i < original.allocations.size(); ++i) {
    if (!IsSameAllocation(original.allocations[i], rewritten.allocations[i]))
      Add(fmt::format("allocation {} is not what it was", i), out);
  }
}

// Which allocations thunks say that they write.
std::vector<bool> FindWritten(const Executable& executable) {
  std::vector<bool> out(executable.assignment.allocations.size());
  for (const Slot& slot : executable.program.slots) {
    if (IsWritten(slot.access) && slot.slice.size != 0)
      out[static_cast<size_t>(slot.slice.allocation)] = true;
  }
  return out;
}

bool IsGiven(const Allocation& allocation) {
  return allocation.is_parameter || allocation.is_constant;
}

// The caller's arguments and constants must stay as they are, unless a result goes there. (A kernel
// that executes a whole computation may list arguments among what it writes.)
void FindForbiddenWrites(const Executable& original, const Executable& rewritten, Sentences& out) {
  const std::vector<bool> before = FindWritten(original);
  const std::vector<bool> after = FindWritten(rewritten);
  for (size_t i = 0; i < after.size(); ++i) {
    const Allocation& allocation = rewritten.assignment.allocations[i];
    if (after[i] && !before[i] && IsGiven(allocation) && !allocation.is_live_out)
      Add(fmt::format("allocation {} belongs to the caller and is written now", i), out);
  }
}

// What a kernel may be launched as: with these data on this sharing. Which slots it reads before
// writing comes from the original's module.
struct KnownKernel {
  std::set<std::string> sharings;
  std::vector<bool> reads;
};
// By name and identity. Under the empty name: by identity alone, for copies, which have names of
// their own.
using KnownKernels = std::map<std::pair<std::string_view, std::string>, KnownKernel>;

std::string KernelText(const Program& program, const Thunk& thunk) {
  return std::to_string(thunk.kind_number) + ":" + IdentityOf(program, thunk);
}

bool CanRunTwice(const Thunk& thunk) {
  return thunk.kind->effect == Effect::kPure && thunk.sequences.count == 0;
}

KnownKernels FindKernels(const Executable& original, const std::vector<bool>& reads) {
  KnownKernels out;
  const Program& program = original.program;
  const auto add = [&](std::string_view name, const Thunk& thunk) {
    KnownKernel& kernel = out[{name, KernelText(program, thunk)}];
    kernel.sharings.insert(SharingOf(program.slots_of(thunk)));
    kernel.reads.resize(std::max<size_t>(kernel.reads.size(), thunk.slots.count));
    for (uint32_t i = 0; i < thunk.slots.count; ++i) {
      if (reads[thunk.slots.begin + i]) kernel.reads[i] = true;
    }
  };
  for (const Thunk& thunk : program.thunks) {
    add(thunk.name, thunk);
    if (CanRunTwice(thunk)) add({}, thunk);
  }
  return out;
}

std::vector<bool> CompareKernels(const KnownKernels& kernels, const Program& rewritten,
                                 Sentences& out) {
  std::vector<bool> reads(rewritten.slots.size());
  for (const Thunk& thunk : rewritten.thunks) {
    const std::string text = KernelText(rewritten, thunk);
    auto found = kernels.find({thunk.name, text});
    if (found == kernels.end()) found = kernels.find({std::string_view(), text});
    if (found == kernels.end()) {
      Add(fmt::format("{} is not a thunk of the original", ThunkText(thunk)), out);
      continue;
    }
    if (!found->second.sharings.contains(SharingOf(rewritten.slots_of(thunk))))
      Add(fmt::format("{} shares memory as it was not compiled for", ThunkText(thunk)), out);
    for (uint32_t i = 0; i < thunk.slots.count && i < found->second.reads.size(); ++i)
      reads[thunk.slots.begin + i] = found->second.reads[i];
  }
  return reads;
}

// Kernels may rely on the alignment that all of their data had.
void CompareAlignments(const Executable& original, const Executable& rewritten, Sentences& out) {
  std::vector<bool> heaps;
  heaps.reserve(original.assignment.allocations.size());
  for (const Allocation& allocation : original.assignment.allocations)
    heaps.push_back(allocation.is_temporary());
  const int64_t most = MostAlignment(original.platform());
  const auto compare = [&] {
    const int64_t alignment = AlignmentOf(original.program, heaps, most);
    if (AlignmentOf(rewritten.program, heaps, most) < alignment)
      Add(fmt::format("not all slices are aligned to {} bytes", alignment), out);
  };
  compare();
  heaps.assign(heaps.size(), true);
  compare();
}

// A GPU's runtime keeps what belongs to a thunk by the thunk's number.
void CompareNumbers(const Program& original, const Program& rewritten, Sentences& out) {
  const auto repeated = [](const Program& program) {
    std::set<uint64_t> seen;
    return std::ranges::any_of(program.thunks, [&](const Thunk& thunk) {
      return thunk.number && *thunk.number != 0 && !seen.insert(*thunk.number).second;
    });
  };
  if (repeated(rewritten) && !repeated(original)) Add("two thunks have the same number", out);
}

// What names thunks by number, next to a sequence, is right only for the order that it had.
void CompareNumbered(const Program& original, const Program& rewritten, Sentences& out) {
  const auto names = [](const Program& program, const Sequence& sequence) {
    std::vector<std::string_view> list;
    list.reserve(sequence.thunks.size());
    for (const uint32_t row : sequence.thunks) list.push_back(program.thunks[row].name);
    return list;
  };
  std::map<std::string_view, std::vector<std::vector<std::string_view>>> known;
  for (const Sequence& sequence : original.sequences) {
    if (!sequence.rest.empty()) known[sequence.rest].push_back(names(original, sequence));
  }
  for (const Sequence& sequence : rewritten.sequences) {
    if (sequence.rest.empty()) continue;
    const auto found = known.find(sequence.rest);
    if (found == known.end() ||
        std::ranges::find(found->second, names(rewritten, sequence)) == found->second.end()) {
      Add("thunks that use a resource of the runtime were moved", out);
    }
  }
}

// The first kernel that does not compute what some kernel of the original does.
std::string FirstOther(const Program& rewritten, const Execution& a, const Execution& b) {
  std::set<ContentName> known;
  for (const auto& [row, name] : a.launches) known.insert(name);
  for (const auto& [row, name] : b.launches) {
    if (!known.contains(name))
      return fmt::format("; {} is the first that reads something else",
                         ThunkText(rewritten.thunks[row]));
  }
  return {};
}

void CompareResults(const Executable& original, const Executable& rewritten, const Execution& a,
                    const Execution& b, Sentences& out) {
  const std::string first = FirstOther(rewritten.program, a, b);
  for (const Allocation& allocation : original.assignment.allocations) {
    if (allocation.is_temporary() || allocation.is_thread_local) continue;
    const Slice whole = {allocation.index, 0, allocation.size};
    if (a.contents.Read(whole) != b.contents.Read(whole)) {
      Add(fmt::format("allocation {} holds something else at the end{}", allocation.index, first),
          out);
    }
  }
  if (a.world != b.world) Add("effects happen in another order, or on other data" + first, out);
}

// Executes both; true if the names can be compared.
bool ExecuteBoth(const Executable& original, const Executable& rewritten,
                 const std::vector<bool>& reads, const std::vector<bool>& new_reads,
                 Sentences& out) {
  Comparison comparison;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    comparison.steps.clear();
    comparison.thunks_left =
        kMaxExecutions * (original.program.thunks.size() + rewritten.program.thunks.size() + 1);
    const Execution a = Execute(original.program, original.assignment, reads, comparison);
    if (a.end == ExecutionEnd::kAnotherRound) continue;
    if (a.end != ExecutionEnd::kDone) {
      Add(fmt::format("the original cannot be followed at `{}`", a.at), out);
      return false;
    }
    const Execution b = Execute(rewritten.program, rewritten.assignment, new_reads, comparison);
    if (b.end == ExecutionEnd::kAnotherRound) continue;
    if (b.end != ExecutionEnd::kDone) {
      Add(fmt::format("{} `{}`",
                      b.end == ExecutionEnd::kRace ? "something that runs at the same time meets"
                                                   : "the executable cannot be followed at",
                      b.at),
          out);
      return false;
    }
    CompareResults(original, rewritten, a, b, out);
    return true;
  }
  Add("the loops cannot be compared", out);
  return false;
}

}  // namespace

std::vector<std::string> FindObstacles(const Executable& executable) {
  Sentences out;
  if (!executable.has_thunks) {
    Add("it has no thunks: its release of XLA makes them anew when it is loaded", out);
    return out;
  }
  for (const Thunk& thunk : executable.program.thunks) {
    if (!thunk.is_understood || thunk.kind == nullptr) {
      Add(fmt::format(
              "the thunk of `{}` is of a kind, or has a field, that is not known (field {})",
              thunk.name, thunk.kind_number),
          out);
    }
  }
  FindBadSlots(executable, out);
  return out;
}

std::vector<bool> DeclaredReads(const Program& program) {
  std::vector<bool> out;
  out.reserve(program.slots.size());
  for (const Slot& slot : program.slots) out.push_back(slot.access != Access::kWrite);
  return out;
}

std::vector<std::string> CompareThunks(const Executable& original, const Executable& rewritten,
                                       const std::vector<bool>& reads) {
  Sentences out = FindObstacles(original);
  if (out.empty()) out = FindObstacles(rewritten);
  if (original.platform() != rewritten.platform()) Add("the platform changed", out);
  CompareAllocations(original.assignment, rewritten.assignment, out);
  if (!out.empty()) return out;
  FindForbiddenWrites(original, rewritten, out);
  const std::vector<bool> new_reads =
      CompareKernels(FindKernels(original, reads), rewritten.program, out);
  CompareAlignments(original, rewritten, out);
  CompareNumbered(original.program, rewritten.program, out);
  CompareNumbers(original.program, rewritten.program, out);
  if (!out.empty()) return out;
  ExecuteBoth(original, rewritten, reads, new_reads, out);
  return out;
}

}  // namespace stowplan::executable
