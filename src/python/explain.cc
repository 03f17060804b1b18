// SPDX-License-Identifier: Apache-2.0
#include "python/explain.h"

#include <algorithm>

namespace stowplan::python {

cli::ExplainView ViewOf(Plan& plan, std::optional<int64_t> time, std::optional<int64_t> space,
                        size_t limit) {
  explain::Moment moment = plan.MomentAt(time, space);
  cli::ExplainView view = {.picture = plan.picture(),
                           .name = plan.input().name,
                           .input = plan.input().name,
                           .is_ours = plan.input().is_ours,
                           .space = space,
                           .moment = std::move(moment),
                           .limit = limit,
                           .speech = cli::Speech::kPython};
  view.is_peak = view.moment.time == view.curve().peak.time;
  return view;
}

std::optional<int64_t> LargestSpace(const Plan& plan) {
  const std::vector<report::SpaceTotal>& spaces = plan.summary().spaces;
  const auto largest = std::ranges::max_element(spaces, {}, &report::SpaceTotal::bytes);
  return largest == spaces.end() ? std::nullopt : std::optional(largest->color);
}

}  // namespace stowplan::python
