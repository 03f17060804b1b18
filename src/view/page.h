// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stowplan::view {

// page.html, made from viewer/ by `./run page`; the build puts it into the program.
[[nodiscard]] std::string_view EmptyPage();

}  // namespace stowplan::view
