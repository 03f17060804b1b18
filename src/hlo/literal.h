// SPDX-License-Identifier: Apache-2.0
// The text of constants. Stowplan does not compute with them: modules keep their text only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace stowplan::hlo {

// Literals with more elements than this print as {...}.
inline constexpr int64_t kMaxPrintedElements = 10;

// Writes the braces, blanks and comments around the elements of a dense array on one line, as XLA
// does: rank 0 `a`, rank 1 `{a, b}`, rank 2 `{ { a, b }, { c, d } }`. `element` appends element
// number i in row-major order.
void AppendNested(std::span<const int64_t> dims,
                  const std::function<void(int64_t, std::string&)>& element, std::string& out);

// Arrays without elements have rows, which print as braces; there may be more than any text has
// room for. Such literals print as {...}, too.
bool HasTooManyRows(std::span<const int64_t> dims);

}  // namespace stowplan::hlo
