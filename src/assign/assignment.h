// SPDX-License-Identifier: Apache-2.0
// Where each value lies: allocations, and offsets in them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "assign/rules.h"
#include "live/analysis.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

using AllocationId = Id<struct AllocationTag>;

struct Allocation {
  int64_t size = 0;
  int64_t color = 0;
  bool is_constant = false;
  bool is_thread_local = false;
  bool is_tuple = false;
  bool is_maybe_live_out = false;
  bool is_preset = false;  // its places were given, or are our own instead
  // Of the entry computation.
  std::optional<int64_t> parameter;
  PositionId parameter_position;
  bool is_aliased_parameter = false;  // the program's result may lie in it
  std::vector<ValueId> values;        // by number

  // XLA calls an allocation of no other kind a preallocated temp.
  [[nodiscard]] bool is_temp() const {
    return !parameter && !is_maybe_live_out && !is_thread_local && !is_constant;
  }
};

struct Place {
  AllocationId allocation;  // none: the value needs no separate memory
  int64_t offset = 0;
  int64_t size = 0;
};

struct Assignment {
  Table<AllocationId, Allocation> allocations;
  std::vector<Place> places;    // by value
  std::vector<int64_t> colors;  // by value: the memory space
  bool is_swept = false;        // whether the time sweep was used (Rules::swept_spaces)
  // By memory space: the most bytes of its heap that are in use at once, as XLA traces it.
  std::map<int64_t, int64_t> heap_peaks;
};

// Places in a memory space that another pass has chosen (Rules::preset_space).
struct Preset {
  struct Chunk {
    PositionId position;  // where the value is defined
    int64_t offset = 0;
    int64_t size = 0;
  };
  int64_t size = 0;  // of the whole block
  std::vector<Chunk> chunks;
};

// Plans as XLA does. Without a preset, places in a preset space are our own; the rest is as if they
// had been given.
//
// Fails when a size does not fit in 64 bits, when the values of one buffer are in different memory
// spaces, or when the preset does not fit the program.
Result<Assignment> Assign(const hlo::Module& module, const Analysis& analysis, const Rules& rules,
                          const std::optional<Preset>& preset);

// Pairs of values that are alive at once and overlap, each described in words; empty if there are
// none. Considers places and times only. Preset places are ignored: another pass may know that only
// one of two branches runs, and let their values overlap.
Diagnostics FindOverlaps(const hlo::Module& module, const Analysis& analysis,
                         const Assignment& assignment);

}  // namespace stowplan
