// SPDX-License-Identifier: Apache-2.0
// Random programs whose memory can be planned: the same seed gives the same text.
#pragma once

#include <cstdint>
#include <string>

namespace stowplan {

struct ProgramOptions {
  int depth = 3;          // how deep control flow nests
  int instructions = 14;  // at most so many choices in each computation
  bool is_scheduled = true;
  bool has_tiles = false;  // layouts as TPU compilers write them
  // With copies where XLA puts them: without, most programs have no sound plan.
  bool has_copies = false;
};

// A well-formed module of loops, branches, calls, fusions, reductions, async operations, updates in
// place, copies and tuples over arrays of few shapes; parameters are donated where they fit.
std::string RandomProgram(uint32_t seed, const ProgramOptions& options = {});

}  // namespace stowplan
