// SPDX-License-Identifier: Apache-2.0
// A lock file: what modules may take, kept in version control with the program.
//
//     # stowplan lock 1: peak
//     # bytes, memory space, module; written by `stowplan gate --update --lock=FILE INPUT`
//     1610612736 0 jit_step
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/gate.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::gate {

// By module and memory space, so that a change is a changed line. `what` is the figure: "peak".
// Names must not contain newlines; figures of all memory spaces together are left out.
[[nodiscard]] std::string WriteLock(const std::vector<Figure>& figures, std::string_view what);

// Fails, naming lines, if it is not a lock file, or is about a different figure.
[[nodiscard]] Result<std::vector<Figure>> ReadLock(const std::string& file, std::string_view text,
                                                   std::string_view what);

}  // namespace stowplan::gate
