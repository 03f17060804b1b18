// SPDX-License-Identifier: Apache-2.0
// Which units leave the heap for a host.
#pragma once

#include <cstdint>
#include <vector>

#include "assign/can_share.h"
#include "best/host.h"
#include "best/unit.h"

namespace stowplan {

struct Spot {
  static constexpr uint32_t kHeap = 0xffffffffU;
  uint32_t host = kHeap;
  int64_t offset = 0;  // in the host

  [[nodiscard]] bool is_heap() const { return host == kHeap; }
};

// Where each unit lies. As long as something that is alive when the heap's load is highest finds
// room in a host, it moves there, the largest first.
std::vector<Spot> MoveToHosts(std::vector<Host> hosts, std::span<const Unit> units,
                              int64_t alignment, const Analysis& analysis, ShareRules& share);

}  // namespace stowplan
