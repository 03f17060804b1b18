// SPDX-License-Identifier: Apache-2.0
// How much memory a task needs in every order and with every repetition.
#pragma once

#include <cstdint>
#include <span>

#include "fit/task.h"

namespace stowplan::fit {

// When `witness` runs for the first time, this much is in use: what it reads and makes, what is
// there from the start and is read later, and what cannot be computed again, has been computed, and
// is read later.
struct Bound {
  int64_t bytes = 0;
  Node witness = kNoNode;
  int64_t own = 0;  // of these: what the witness itself reads and makes
};
// `is_gone`: by node, whether it may be left out of the program; empty: none may. What only such
// nodes make should have no size.
Bound FindBound(const Task& task, std::span<const uint8_t> is_gone = {});

}  // namespace stowplan::fit
