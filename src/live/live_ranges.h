// SPDX-License-Identifier: Apache-2.0
// When each value is alive, on the time line of the whole program; both ends are inclusive, as in
// XLA.
#pragma once

#include <cstdint>
#include <vector>

#include "buffers/buffer_set.h"
#include "schedule/schedule.h"
#include "stowplan/hlo/module.h"
#include "values/value_flow.h"

namespace stowplan {

struct LiveRange {
  int64_t start = kNoTime;  // kNoTime: the value is not on the time line
  int64_t end = kNoTime;

  [[nodiscard]] bool exists() const { return start != kNoTime; }
  friend bool operator==(const LiveRange&, const LiveRange&) = default;
};

// When a value that is defined in an async computation begins.
enum class AsyncBirth : uint8_t {
  kOwnTime,
  kAtStart,  // with the async-start
};

struct LiveRanges {
  std::vector<LiveRange> ranges;  // by value

  [[nodiscard]] const LiveRange& of(ValueId id) const { return ranges[id.index]; }
};

// The values of one buffer never overlap: if one ends too late, it is cut where the next takes
// over.
LiveRanges FindLiveRanges(const hlo::Module& module, const Schedule& schedule,
                          const ValueFlow& flow, const BufferSet& buffers, AsyncBirth async_birth);

}  // namespace stowplan
