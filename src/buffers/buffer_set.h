// SPDX-License-Identifier: Apache-2.0
// Buffers: values that must lie in the same place.
//
// A loop's values share one place. So do a donated parameter and the output it becomes, and an
// in-place instruction and what it writes into.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buffers/in_place.h"
#include "stowplan/hlo/module.h"
#include "values/value_flow.h"

namespace stowplan {

using BufferId = Id<struct BufferTag>;

struct BufferSet {
  std::vector<uint32_t> begins;      // by buffer, and one more
  std::vector<ValueId> values;       // by buffer, then by number
  std::vector<BufferId> buffers;     // by value; none for gaps
  std::vector<uint8_t> is_live_out;  // by buffer: holds a part of the program's result

  [[nodiscard]] size_t size() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const ValueId> values_of(BufferId id) const {
    return std::span(values).subspan(begins[id.index], begins[id.index + 1] - begins[id.index]);
  }
  [[nodiscard]] BufferId of(ValueId id) const { return buffers[id.index]; }
};

BufferSet FindBuffers(const hlo::Module& module, const ValueFlow& flow, const InPlacePairs& pairs);

}  // namespace stowplan
