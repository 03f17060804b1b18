// SPDX-License-Identifier: Apache-2.0
// Makes a module whose computation runs in the order of a sequence: repetitions become instructions
// of their own.
#pragma once

#include <span>

#include "fit/task.h"
#include "hlo/separate_fusions.h"
#include "order/graph.h"
#include "stowplan/hlo/module.h"

namespace stowplan::fit {

// Requires a possible sequence of the graph's nodes. Repetitions are named after their originals
// (`dot.3.remat`), and get bitcasts and get-tuple-elements of their own where they need some.
struct Applied {
  hlo::Module module;
  hlo::Origins origins;  // rows of the given module
};
Applied Apply(const hlo::Module& module, const order::Graph& graph, std::span<const Node> sequence);

}  // namespace stowplan::fit
