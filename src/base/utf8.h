// SPDX-License-Identifier: Apache-2.0
// Names come from the input and may hold any bytes; most formats that we write want UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stowplan {

// Bytes of the well-formed UTF-8 sequence at `i` (RFC 3629: no surrogates, nothing overlong), or 0.
[[nodiscard]] size_t Utf8Length(std::string_view text, size_t i);

// Each byte that is no UTF-8 becomes U+FFFD.
void AppendUtf8(std::string_view text, std::string& out);

// The same for terminals, which must not obey what a name holds: control characters, and those that
// turn the direction of a text or break its line, become question marks.
void AppendHarmless(std::string_view text, std::string& out);

}  // namespace stowplan
