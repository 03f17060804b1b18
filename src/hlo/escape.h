// SPDX-License-Identifier: Apache-2.0
// C escapes in strings, and what counts as a JSON dictionary.
#pragma once

#include <string>
#include <string_view>

namespace stowplan::hlo {

// Appends `text` with \n \r \t \" \' \\ and \ooo for all other bytes outside 0x20..0x7e.
void AppendEscaped(std::string_view text, std::string& out);
// The inverse; false when an escape is malformed. Also knows \xHH, \a \b \f \v \? and octal of one
// to three digits.
bool AppendUnescaped(std::string_view text, std::string& out);

// The length of the balanced brace group at the start of `text` ({...}, strings skipped), or 0 when
// there is none.
size_t JsonDictionaryLength(std::string_view text);
// Whether all of `text` is one such group, blanks aside.
bool IsJsonDictionary(std::string_view text);

}  // namespace stowplan::hlo
