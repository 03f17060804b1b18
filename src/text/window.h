// SPDX-License-Identifier: Apache-2.0
// Numeric values in special forms: windows, slices, paddings, aliasings. The numbers are appended
// in the order that hlo/attribute.h gives.
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
