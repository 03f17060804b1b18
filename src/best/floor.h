// SPDX-License-Identifier: Apache-2.0
// A lower bound for every choice of guests.
#pragma once

#include <cstdint>
#include <span>

#include "assign/can_share.h"
#include "best/host.h"
#include "live/analysis.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

struct FloorInput {
  std::span<const ValueId> movable;  // in the heap, or in hosts
  std::span<const Host> hosts;       // including what cannot lie elsewhere
  std::span<const int64_t> sizes;    // by buffer
  std::span<const int64_t> always;   // sizes in the heap that are taken all the time
  int64_t alignment = 1;
};

// At each instant, what is alive less what the hosts hold together, as if they wasted nothing and
// everything that may overwrite an operand did.
int64_t FindFloor(const hlo::Module& module, const Analysis& analysis, const FloorInput& input,
                  ShareRules& share);

}  // namespace stowplan
