// SPDX-License-Identifier: Apache-2.0
// Diagnostics behind a handle.
#pragma once

#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"
#include "stowplan/stowplan_c.h"

struct stowplan_messages {
  stowplan::Diagnostics rows;
  std::string text;  // rendered
};

namespace stowplan::c {

stowplan_messages MessagesOf(Diagnostics diagnostics);

// Each of these puts the reason into `errors`, which may be null, and returns its status.
stowplan_status Fail(stowplan_messages** errors, Diagnostics diagnostics);
stowplan_status FailMisuse(stowplan_messages** errors, std::string_view what);
stowplan_status FailNoMemory(stowplan_messages** errors) noexcept;
stowplan_status FailInternal(stowplan_messages** errors, const char* what) noexcept;

}  // namespace stowplan::c
