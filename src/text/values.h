// SPDX-License-Identifier: Apache-2.0
// Values in HLO text that occur in many places. All return false after recording an error.
#pragma once

#include <string>

#include "text/reader.h"

namespace stowplan::text {

// "..." or '...', unescaped.
bool ParseString(Reader& reader, hlo::Text& text);
// true or false (also 1 and 0).
bool ParseBool(Cursor& cursor, bool& value);
// {1,2,3}
bool ParseIntList(Cursor& cursor, std::vector<int64_t>& numbers);
// The characters up to the `,` or closing bracket that ends the value at the cursor; strings,
// comments and brackets inside are skipped. Trailing blanks and comments are not part of it.
bool ParseBalanced(Cursor& cursor, std::string_view& text);
// A canonical text: a slice of the source if it is canonical there, otherwise a copy.
hlo::Text Canonical(Reader& reader, const char* begin, const std::string& canonical);

// {k="v",k2={json}} as rows of texts, by key.
bool ParseFrontendAttributes(Reader& reader, Range& rows);
// {op_name="..." source_line=3}
bool ParseMetadata(Reader& reader, hlo::Metadata& metadata);

// What is written in constant(...), up to the closing parenthesis, which is not consumed.
bool ParseLiteral(Reader& reader, hlo::ShapeId shape, hlo::Text& text);

// Values that planning does not inspect, rewritten in XLA's spelling.
bool CanonicalSharding(Cursor& cursor, std::string& out);
bool CanonicalDeviceGroups(Cursor& cursor, std::string& out);
bool CanonicalDomain(Cursor& cursor, std::string& out);
bool CanonicalOrigin(Cursor& cursor, std::string& out);
bool CanonicalTree(Cursor& cursor, std::string& out);

}  // namespace stowplan::text
