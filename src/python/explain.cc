// SPDX-License-Identifier: Apache-2.0
#include "python/explain.h"

#include <algorithm>

namespace stowplan::python {

page::ExplainView ViewOf(Plan& plan, std::optional<int64_t> time, std::optional<int64_t> space,
                         size_t limit) {
  explain::Moment moment = plan.MomentAt(time, space);
  page::ExplainView view = {.picture = plan.picture(),
                            .name = plan.name(),
                            .input = plan.name(),
                            .is_made = plan.planned().is_made(),
                            .space = space,
                            .moment = std::move(moment),
                            .limit = limit,
                            .speech = Speech::kPython};
  view.is_peak = view.moment.time == view.curve().peak.time;
  return view;
}

std::optional<int64_t> LargestSpace(const Plan& plan) {
  const std::vector<report::SpaceTotal>& spaces = plan.summary().spaces;
  const auto largest = std::ranges::max_element(spaces, {}, &report::SpaceTotal::bytes);
  return largest == spaces.end() ? std::nullopt : std::optional(largest->color);
}

}  // namespace stowplan::python
