// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

namespace stowplan {
namespace {

constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";  // U+FFFD

bool IsContinuation(std::string_view text, size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
}

// Of a well-formed sequence.
bool IsHarmless(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7f;
  if (character.size() == 2) return byte(0) != 0xc2 || byte(1) >= 0xa0;  // not U+0080 to U+009F
  if (character.size() != 3 || byte(0) != 0xe2) return true;
  // Not U+2028 to U+202E (lines, paragraphs, directions), nor U+2066 to U+2069 (directions).
  return !(byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) &&
         !(byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

}  // namespace

size_t Utf8Length(std::string_view text, size_t i) {
  const auto first = static_cast<unsigned char>(text[i]);
  const auto second = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return IsContinuation(text, i + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    return IsContinuation(text, i + 1) && IsContinuation(text, i + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;
    return IsContinuation(text, i + 1) && IsContinuation(text, i + 2) && IsContinuation(text, i + 3)
               ? 4
               : 0;
  }
  return 0;
}

void AppendUtf8(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    if (length == 0) {
      out += kNoCharacter;
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
}

void AppendHarmless(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    const std::string_view character = text.substr(i, length == 0 ? 1 : length);
    if (length == 0) {
      out += kNoCharacter;
    } else {
      out += IsHarmless(character) ? character : "?";
    }
    i += character.size();
  }
}

}  // namespace stowplan
