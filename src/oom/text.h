// SPDX-License-Identifier: Apache-2.0
// Helpers for characters and words, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace stowplan::oom {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char SmallLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline std::string SmallLetters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = SmallLetter(c);
  return out;
}

inline std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// The text between two marks, with `open` at or after `from`; empty if there is none.
inline std::string_view Between(std::string_view text, std::string_view open,
                                std::string_view close, size_t from = 0) {
  const size_t begin = text.find(open, from);
  if (begin == std::string_view::npos) return {};
  const size_t start = begin + open.size();
  const size_t end = text.find(close, start);
  return end == std::string_view::npos ? std::string_view{} : text.substr(start, end - start);
}

}  // namespace stowplan::oom
