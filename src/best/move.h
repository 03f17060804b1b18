// SPDX-License-Identifier: Apache-2.0
// Which units move from the heap into a host.
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

// Which unit is tried first; among equals, the one defined first.
enum class MoveOrder : uint8_t { kLargest, kLargestShortest, kShortest };
// The host with the fewest bytes, or with the least time to spare.
enum class MoveFit : uint8_t { kSmallest, kTightest };
struct MoveRule {
  MoveOrder order = MoveOrder::kLargest;
  MoveFit fit = MoveFit::kSmallest;
};
// No rule is best for all programs.
inline constexpr MoveRule kMoveRules[] = {
    {MoveOrder::kLargest, MoveFit::kSmallest},
    {MoveOrder::kLargest, MoveFit::kTightest},
    {MoveOrder::kLargestShortest, MoveFit::kSmallest},
    {MoveOrder::kShortest, MoveFit::kSmallest},
};

// Where each unit lies. As long as something alive at the heap's highest load finds room in a host,
// it moves there.
std::vector<Spot> MoveToHosts(std::vector<Host> hosts, std::span<const Unit> units,
                              const MoveRule& rule, int64_t alignment, const Analysis& analysis,
                              ShareRules& share);

}  // namespace stowplan
