// SPDX-License-Identifier: Apache-2.0
// What a page of the viewer shows for one input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explain/picture.h"
#include "stowplan/session.h"
#include "view/view.h"

namespace stowplan::page {

struct ViewOptions {
  PlanOptions plan;
  std::optional<int64_t> budget;
  bool is_best = false;          // show the plan of policy best,
  bool is_against_best = false;  // or both plans side by side,
  bool keeps_order = false;      // in the same order of instructions

  [[nodiscard]] bool needs_best() const { return is_best || is_against_best; }
};

// A plan, the plan of policy best if it is wanted, and pictures that point into them.
struct ShownInput {
  PlannedModule planned;
  explain::Picture picture;
  std::optional<PlannedModule> best;
  std::vector<BestHeap>
      given_heaps;  // what is proved about XLA's order; empty if policy best keeps it
  explain::Picture best_picture;
  Diagnostics problems;  // notes, and why there is no plan by policy best
};
// Fails if it cannot be shown. If only the plan of policy best cannot be made, `problems` says why.
Result<std::unique_ptr<ShownInput>> MakeShown(PlannedModule planned, const ViewOptions& options);

// Adds one module, or two if it is shown against policy best, and their sources. The scene points
// into the input.
void AddTo(view::Scene& scene, const ShownInput& input, const ViewOptions& options);

}  // namespace stowplan::page
