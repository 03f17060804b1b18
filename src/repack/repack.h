// SPDX-License-Identifier: Apache-2.0
// A serialized executable with a lower plan.
//
// Nothing is trusted. The executable's own plan must be what Stowplan makes by XLA's rules; every
// slice of every thunk is resolved to a value and written back; the new bytes are decoded again,
// the checker must call their plan sound, and the thunks must compute what the original's do
// (executable/thunk_check.h). Otherwise the answer is a refusal, with the reasons.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

namespace stowplan::repack {

struct RepackOptions {
  bool reorders = true;      // other orders of instructions, too
  std::string release = {};  // of XLA; empty: detected
};

struct Repacked {
  std::string module;
  std::string bytes;                  // the new executable; empty: none is lower, or it was refused
  std::vector<std::string> refusals;  // why no other plan could be used
  // Heaps of temporaries together.
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  int64_t bound = 0;  // for the order that was chosen; 0: not known
  int64_t moved_values = 0;
  int64_t moved_thunks = 0;  // thunks that run in another place of the order
};

// Fails if the source is not an executable or damaged; a refusal is no failure.
[[nodiscard]] Result<Repacked> Repack(std::shared_ptr<const Source> source,
                                      const RepackOptions& options);

}  // namespace stowplan::repack
