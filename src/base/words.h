// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stowplan {

// Whether `word` is one of `words`, which are separated by single blanks. No list has the empty
// word.
inline bool HasWord(std::string_view words, std::string_view word) {
  while (!word.empty() && !words.empty()) {
    const size_t end = words.find(' ');
    if (words.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    words.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace stowplan
