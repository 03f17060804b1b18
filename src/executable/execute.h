// SPDX-License-Identifier: Apache-2.0
// Executes thunks on named contents, to compare two programs.
//
// Both programs share a NamePool; afterwards, memory with the same names holds the same bytes.
//
// Loops. An iteration is executed for an arbitrary visit of the loop's head: what the loop writes
// has, at the head, names that stand for "at this visit". Such a name says what the memory held
// before the loop and, to a depth of `rounds`, how one iteration changes it. The names are sound if
// one iteration takes equal names to equal names, in both programs: `steps` records what became of
// each name, and where it disagrees, the loop gets another round and everything is done again.
// After the loop, names also say which condition ended it.
//
// Branches. Every branch is executed; what they write is named by the predicate and by what it
// would be after each.
//
// Thunks with an effect read and write one more piece of memory, the world, so that neither their
// number nor their order can change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executable/contents.h"
#include "executable/executable.h"

namespace stowplan::executable {

// What both executions share.
struct Comparison {
  NamePool names;
  std::map<std::string, uint64_t, std::less<>> texts;  // numbers of identities
  std::map<uint64_t, int> rounds;                      // of loops, by the number of the thunk
  std::map<ContentName, std::pair<ContentName, int64_t>> steps;
  uint64_t thunks_left = 0;  // executions left before giving up

  uint64_t NumberOf(std::string text) {
    return texts.emplace(std::move(text), texts.size()).first->second;
  }
};

enum class ExecutionEnd : uint8_t { kDone, kAnotherRound, kTooLong, kRace };

struct Execution {
  ExecutionEnd end = ExecutionEnd::kDone;
  std::string_view at;  // kRace, kTooLong: the thunk
  Contents contents;
  ContentName world = kUndefined;
  // What kernels computed, as thunk and name, in the order in which they ran.
  std::vector<std::pair<uint32_t, ContentName>> launches;
};

// Every thunk must be understood, and every slot inside its allocation. `reads` says for each slot
// whether the thunk depends on what it held before.
[[nodiscard]] Execution Execute(const Program& program, const Assignment& assignment,
                                const std::vector<bool>& reads, Comparison& comparison);

}  // namespace stowplan::executable
