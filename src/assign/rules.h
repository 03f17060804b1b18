// SPDX-License-Identifier: Apache-2.0
// How a back end of XLA plans memory in a given version: data, and a few named rules.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "live/analysis.h"
#include "stowplan/target/target.h"

namespace stowplan {

// The order in which buffers are assigned.
enum class AssignOrder : uint8_t {
  kLargestFirst,
  kEarliestFirst,
};

// Which instructions may write over a dying operand, beyond those that all back ends allow.
enum class Sharing : uint8_t { kPlain, kGpu, kTpu };

struct Rules {
  Target target;
  AnalysisOptions analysis;
  Sharing sharing = Sharing::kPlain;
  // Whether a buffer takes an operand's place only if the instruction reads the operand at its last
  // position; newer versions try every position.
  bool reads_last_position = false;

  // Offsets in a memory space are multiples of its alignment.
  int64_t alignment = 1;
  static constexpr int64_t kSpaces = 13;
  int64_t space_alignments[kSpaces] = {};  // 0: `alignment`

  AssignOrder order = AssignOrder::kLargestFirst;
  bool thread_locals_by_number = false;
  // Memory spaces, as bits, in which temporaries do not move into buffers of the result, and whose
  // heap sweeps time.
  uint64_t swept_spaces = 0;

  // The memory space whose places another pass has chosen, if there is one. Its allocation comes
  // first.
  int64_t preset_space = -1;
  // The memory space whose heap takes values of space 0 into its holes, if there is one.
  int64_t lending_space = -1;
  // Whether work that is handed to a TPU's SparseCore has separate memory.
  bool has_sparse_core = false;
  // If all of space 0 needs more than this, the plan is made again with the rules of the other back
  // ends: largest first, best fit.
  int64_t sweep_limit = std::numeric_limits<int64_t>::max();
  // No heap grows beyond this; another one is opened instead.
  int64_t heap_limit = std::numeric_limits<int64_t>::max();

  [[nodiscard]] int64_t AlignmentOf(int64_t space) const {
    return space >= 0 && space < kSpaces && space_alignments[space] != 0 ? space_alignments[space]
                                                                         : alignment;
  }
  [[nodiscard]] bool Sweeps(int64_t space) const {
    return space >= 0 && space < 64 && ((swept_spaces >> static_cast<unsigned>(space)) & 1U) != 0;
  }
};

// `version` is a name of report/dialect.h ("jaxlib-0.11.2"); empty: the newest.
Rules RulesOf(const Target& target, std::string_view version = {});

}  // namespace stowplan
