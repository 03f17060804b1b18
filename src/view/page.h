// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stowplan::view {

// Where the data goes; only pages of this viewer have it.
inline constexpr std::string_view kDataElement =
    R"(<script type="application/octet-stream" id="stowplan-data">)";

// page.html, made from viewer/ by `./run page`; the build puts it into the program.
[[nodiscard]] std::string_view EmptyPage();

}  // namespace stowplan::view
