// SPDX-License-Identifier: Apache-2.0
// Compares JSON texts by their meaning.
#pragma once

#include <string_view>

namespace stowplan {

// Whether two JSON texts are equal, ignoring blanks and the order of keys. Numbers are compared as
// written. Texts that are not JSON, or nest deeper than a thousand levels, are compared byte by
// byte.
bool SameJson(std::string_view a, std::string_view b);

}  // namespace stowplan
