// SPDX-License-Identifier: Apache-2.0
// Names that options choose from.
#pragma once

#include <string_view>
#include <vector>

namespace stowplan {

std::vector<std::string_view> TargetNames();
// Of the releases of XLA that are known, oldest first.
std::vector<std::string_view> ReleaseNames();

}  // namespace stowplan
