// SPDX-License-Identifier: Apache-2.0
// Which orders and repetitions an executable's thunks allow.
//
// Kernels write over operands as they were compiled to, and what lies outside the heaps stays where
// it is. So who reads a value comes before who overwrites it, and a value that was written over an
// operand can be computed again only together with that operand: a group.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "assign/rules.h"
#include "executable/executable.h"
#include "fit/task.h"
#include "order/graph.h"
#include "order/problem.h"
#include "repack/changed.h"
#include "repack/units.h"
#include "stowplan/plan.h"

namespace stowplan::repack {

struct Frozen {
  order::Graph graph;
  order::Problem problem;  // each node alone, none repeated
  // Groups of nodes that run one after the other, and may run again. Their order is possible.
  std::vector<std::vector<order::Node>> groups;
  fit::Task task;  // its nodes are the groups

  [[nodiscard]] fit::Sequence Expand(const fit::Sequence& sequence) const {
    fit::Sequence out;
    for (const order::Node group : sequence)
      out.insert(out.end(), groups[group].begin(), groups[group].end());
    return out;
  }
};

// Whether guests (units.h) stay where they are, so that who reads them comes before who needs the
// place, or count as if they were in a heap.
enum class Guests : uint8_t { kStay, kMove };

// `planned` has the executable's module and its plan; `units` are those of the program as it is.
[[nodiscard]] std::expected<Frozen, std::string> FindFrozen(
    const executable::Executable& executable, const PlannedModule& planned, const Rules& rules,
    const Units& units, Guests guests);

}  // namespace stowplan::repack
