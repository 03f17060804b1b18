// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "explain/moment.h"
#include "stowplan/base/diagnostic.h"
#include "view/columns.h"
#include "view/view.h"

namespace stowplan::view {

// Everything that the page draws for one module (docs/view-format.md).
[[nodiscard]] Result<Columns> ColumnsOf(const Shown& shown, const explain::Curves& curves);

// What an allocation is for, in the page's terms.
enum class AllocationKind : uint8_t {
  kTemporary,
  kOutput,
  kParameter,
  kDonated,
  kConstant,
  kThreadLocal
};
inline constexpr std::string_view kAllocationKinds[] = {"temporary", "output",   "parameter",
                                                        "donated",   "constant", "thread-local"};

}  // namespace stowplan::view
