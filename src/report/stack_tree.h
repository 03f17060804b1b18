// SPDX-License-Identifier: Apache-2.0
// The peak's bytes by call stack: entry, the loops and calls around an instruction, and its
// op_name.
#pragma once

#include <vector>

#include "schedule/call_graph.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct TracedBytes {
  hlo::InstrId instruction;
  std::vector<int64_t> index;
  int64_t bytes = 0;
};

// Nodes as XLA prints them; their names are kept in `report`.
std::vector<TreeNode> BuildStackTree(const hlo::Module& module, const CallGraph& calls,
                                     const std::vector<TracedBytes>& rows, Report& report);

}  // namespace stowplan::report
