// SPDX-License-Identifier: Apache-2.0
// The known sentences: the words that each begins with, and a rule that reads its figures.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "oom/heads.h"
#include "oom/size.h"

namespace stowplan::oom {

// Reads from a position in the window.
struct Scan {
  const Window& window;
  size_t at = 0;

  // Skips lower-case words, if they come next.
  bool Skip(std::string_view words) {
    if (!std::string_view(window.lower).substr(at).starts_with(words)) return false;
    at += words.size();
    return true;
  }
  // Moves past words that begin within `most` characters.
  bool SkipTo(std::string_view words, size_t most) {
    const std::string_view near =
        std::string_view(window.lower).substr(0, at + most + words.size());
    const size_t found = near.find(words, at);
    if (found == std::string_view::npos) return false;
    at = found + words.size();
    return true;
  }
  [[nodiscard]] bool Has(std::string_view words, size_t most) const {
    return std::string_view(window.lower).substr(at, most).contains(words);
  }
  std::optional<Size> TakeSize() { return ReadSize(window.text, at); }
  // Up to one of these characters.
  std::string_view TakeUntil(std::string_view stops) {
    const size_t end = std::min(window.text.find_first_of(stops, at), window.text.size());
    const std::string_view piece = std::string_view(window.text).substr(at, end - at);
    at = end;
    return piece;
  }
};

// Receives the position after the words, and where they begin. False if it is not such a sentence
// after all.
using Rule = bool (*)(Scan& scan, size_t begin, Head& head);

struct Anchor {
  std::string_view words;  // in lower case
  Rule rule;
};
std::span<const Anchor> Anchors();

}  // namespace stowplan::oom
