// SPDX-License-Identifier: Apache-2.0
// What a page of `stowplan view` shows of one input.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/best_plan.h"
#include "cli/listener.h"
#include "cli/plan_input.h"
#include "explain/picture.h"
#include "view/view.h"

namespace stowplan::cli {

struct ViewOptions {
  PlanInputOptions input;
  std::optional<int64_t> budget;
  std::optional<double> seconds;  // for policy best
  std::string source_root = {};   // empty: none
  bool is_best = false;           // show the plan of policy best,
  bool is_against_best = false;   // or both beside each other

  [[nodiscard]] bool needs_best() const { return is_best || is_against_best; }
};

// A plan, the plan of policy best where that is asked for, and pictures that point into them.
struct ShownInput {
  PlanInput plan;
  explain::Picture picture;
  std::optional<BestInput> best;
  explain::Picture best_picture;
};
// Null, and messages, when it cannot be shown. Without policy best's plan, and with messages, when
// only that could not be made.
std::unique_ptr<ShownInput> MakeShown(PlanInput plan, const ViewOptions& options,
                                      Listener& listener);

// One module, or two when it is shown against policy best; and their sources. The scene points into
// the input.
void AddTo(view::Scene& scene, const ShownInput& input, const ViewOptions& options);

}  // namespace stowplan::cli
