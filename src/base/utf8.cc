// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

namespace stowplan {
namespace {

bool IsContinuation(std::string_view text, size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
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
      out += "\xef\xbf\xbd";
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
}

}  // namespace stowplan
