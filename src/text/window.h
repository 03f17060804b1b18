// SPDX-License-Identifier: Apache-2.0
// Values of numbers in forms of their own: windows, slices, paddings, aliasings. The numbers are
// appended in the order that hlo/attribute.h tells.
#pragma once

#include <cstdint>
#include <vector>

#include "text/cursor.h"

namespace stowplan::text {

bool ParseWindow(Cursor& cursor, std::vector<int64_t>& ints);
bool ParseSlices(Cursor& cursor, std::vector<int64_t>& ints);
bool ParsePadding(Cursor& cursor, std::vector<int64_t>& ints);
bool ParseAliasing(Cursor& cursor, std::vector<int64_t>& ints);

}  // namespace stowplan::text
