// SPDX-License-Identifier: Apache-2.0
// Buffers of the result and donated parameters: while their own values are not alive, temporaries
// may lie there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assign/assignment.h"
#include "assign/can_share.h"
#include "best/unit.h"

namespace stowplan {

struct Host {
  struct Resident {
    ValueId value;
    LiveRange range;
    int64_t offset = 0;
    int64_t size = 0;
  };
  AllocationId allocation;
  int64_t size = 0;
  std::vector<Resident> residents;
};

// Whether temporaries may lie in the allocation at all.
bool IsHost(const Allocation& allocation);

// Where the unit can lie in the host: in the smallest gap, or in the place of a resident that it
// takes over from or hands over to. Nothing if there is no room. Adds to `looks` the number of live
// ranges that were inspected.
std::optional<int64_t> FindRoom(const Host& host, const Unit& unit, int64_t alignment,
                                const LiveRanges& live, ShareRules& share, int64_t& looks);

void MoveIn(Host& host, const Unit& unit, int64_t offset, const LiveRanges& live);

}  // namespace stowplan
