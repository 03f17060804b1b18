// SPDX-License-Identifier: Apache-2.0
// Why no order has a smaller load at a node: a flow that is as large as the least cut. Whoever has
// it needs no search, only sums.
//
// The nodes before `witness` are a set. Flow starts at nodes that must be in it, and ends at nodes
// that cannot be. It runs through lives, from where one begins to where it is needed, and from a
// node back to one it depends on. Only a life can lead out of the set, and one that does has begun
// and is still needed. So what flows, in the limits of the lives' sizes, is in use at `witness`.
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
