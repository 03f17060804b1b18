// SPDX-License-Identifier: Apache-2.0
// Proof that no order has a smaller load at a node: a flow as large as the minimum cut. Checking it
// takes no search, only sums.
//
// The nodes before `witness` form a set. The flow starts at nodes that must be in the set, and ends
// at nodes that cannot be. It runs through lives, from where a life begins to where it is needed,
// and from a node back to one it depends on. Only a life can lead out of the set, and such a life
// has begun and is still needed. A life carries at most its size, so at least as many bytes are in
// use at `witness` as flow.
#pragma once

#include <cstdint>
#include <vector>

#include "order/problem.h"

namespace stowplan::order {

struct LeastFlow {
  // From a life to a node that needs it; kNoNode: to the end, where the life lasts.
  struct ThroughLife {
    uint32_t life = 0;
    Node to = kNoNode;
    int64_t bytes = 0;
  };
  // Against an edge.
  struct Back {
    Node from = 0;
    Node to = 0;
    int64_t bytes = 0;
  };
  std::vector<ThroughLife> lives;
  // The same for an operand that only one output of `witness` may be written over, up to what that
  // saves: while another node needs the operand, nothing is saved. `life` is the output.
  std::vector<ThroughLife> spared;
  std::vector<Back> backs;
  int64_t bound = 0;  // the least load of `witness`
};
LeastFlow FindLeastFlow(const Problem& problem, Node witness);

}  // namespace stowplan::order
