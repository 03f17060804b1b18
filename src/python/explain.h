// SPDX-License-Identifier: Apache-2.0
// A plan as the pages of `stowplan explain` want it.
#pragma once

#include <cstdint>
#include <optional>

#include "page/explain_view.h"
#include "python/plan.h"

namespace stowplan::python {

// At `time`, or at the peak of the memory space; absent: all together. Needs live ranges.
[[nodiscard]] page::ExplainView ViewOf(Plan& plan, std::optional<int64_t> time,
                                       std::optional<int64_t> space, size_t limit);
// The memory space that takes most, as the pages look at it when none is named.
[[nodiscard]] std::optional<int64_t> LargestSpace(const Plan& plan);

}  // namespace stowplan::python
