// SPDX-License-Identifier: Apache-2.0
// The names that options accept.
#pragma once

#include <string_view>
#include <vector>

namespace stowplan {

std::vector<std::string_view> TargetNames();
// The known releases of XLA, oldest first.
std::vector<std::string_view> ReleaseNames();

}  // namespace stowplan
