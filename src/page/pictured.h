// SPDX-License-Identifier: Apache-2.0
// A plan and its picture, which points into it.
#pragma once

#include <memory>

#include "explain/picture.h"
#include "stowplan/session.h"

namespace stowplan::page {

struct PicturedPlan {
  PlannedModule planned;
  explain::Picture picture;
};
inline Result<std::unique_ptr<PicturedPlan>> LoadPicture(const InputModule& module,
                                                         const PlanOptions& options) {
  auto pictured = std::make_unique<PicturedPlan>();
  STOWPLAN_TRY(pictured->planned, Load(module, options));
  STOWPLAN_TRY(pictured->picture,
               explain::MakePicture(*pictured->planned.report, pictured->planned.module.get(),
                                    pictured->planned.target, {.own = options.own}));
  return pictured;
}

}  // namespace stowplan::page
