// SPDX-License-Identifier: Apache-2.0
// How the slots of one thunk share memory.
//
// A kernel is compiled for the sharing that it saw: operands in one place became one pointer, and
// loads from places that nothing else touches may be moved across stores. So a rewritten executable
// must neither lose nor add sharing inside a thunk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "executable/program.h"

namespace stowplan::executable {

// The same text for slots that share in the same way: which of them overlap, directly or through
// others, and how far apart those begin.
[[nodiscard]] std::string SharingOf(std::span<const Slot> slots);

// The largest power of two, at most `most`, that divides all offsets of slots in these allocations.
[[nodiscard]] int64_t AlignmentOf(const Program& program, const std::vector<bool>& allocations,
                                  int64_t most);

}  // namespace stowplan::executable
