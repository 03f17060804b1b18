// SPDX-License-Identifier: Apache-2.0
// Names come from the input and may hold any bytes; most formats that we write require UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stowplan {

// Bytes of the well-formed UTF-8 sequence at `i` (RFC 3629: no surrogates, nothing overlong), or 0.
[[nodiscard]] size_t Utf8Length(std::string_view text, size_t i);

// Each byte that is not valid UTF-8 becomes U+FFFD.
void AppendUtf8(std::string_view text, std::string& out);

// The same for terminals, which must not act on what a name contains: control characters, and those
// that change the direction of text or break lines, become question marks.
void AppendHarmless(std::string_view text, std::string& out);

}  // namespace stowplan
