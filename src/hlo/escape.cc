// SPDX-License-Identifier: Apache-2.0
#include "hlo/escape.h"

#include <cstddef>

namespace stowplan::hlo {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The character after a backslash that stands for one byte, or -1.
int SimpleEscape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '"':
    case '\'':
    case '\\':
    case '?':
      return c;
    default:
      return -1;
  }
}

}  // namespace

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\'':
      case '\\':
        out += '\\';
        out += c;
        break;
      default:
        if (byte >= 0x20 && byte <= 0x7e) {
          out += c;
        } else {
          out += '\\';
          out += static_cast<char>('0' + (byte >> 6U));
          out += static_cast<char>('0' + ((byte >> 3U) & 7U));
          out += static_cast<char>('0' + (byte & 7U));
        }
    }
  }
}

bool AppendUnescaped(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return false;
    if (const int simple = SimpleEscape(text[i]); simple >= 0) {
      out += static_cast<char>(simple);
    } else if (IsOctal(text[i])) {
      int value = 0;
      size_t digits = 0;
      for (; digits < 3 && i + digits < text.size() && IsOctal(text[i + digits]); ++digits) {
        value = value * 8 + (text[i + digits] - '0');
      }
      if (value > 255) return false;
      out += static_cast<char>(value);
      i += digits - 1;
    } else if (text[i] == 'x' || text[i] == 'X') {
      int value = 0;
      size_t digits = 0;
      for (; i + 1 + digits < text.size() && HexDigit(text[i + 1 + digits]) >= 0; ++digits) {
        value = value * 16 + HexDigit(text[i + 1 + digits]);
        if (value > 255) return false;
      }
      if (digits == 0) return false;
      out += static_cast<char>(value);
      i += digits;
    } else {
      return false;
    }
  }
  return true;
}

size_t JsonDictionaryLength(std::string_view text) {
  if (text.empty() || text[0] != '{') return 0;
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) return i + 1;
        break;
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) {
          if (text[i] == '\\') ++i;
        }
        if (i >= text.size()) return 0;
        break;
      case '\0':
        return 0;
      default:
        break;
    }
  }
  return 0;
}

bool IsJsonDictionary(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size() &&
         (text[begin] == ' ' || text[begin] == '\n' || text[begin] == '\t' || text[begin] == '\r'))
    ++begin;
  const size_t length = JsonDictionaryLength(text.substr(begin));
  if (length == 0) return false;
  return text.find_first_not_of(" \n\t\r", begin + length) == std::string_view::npos;
}

}  // namespace stowplan::hlo
