// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <algorithm>
#include <numeric>

namespace stowplan {
namespace {

// Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongest = 64;  // longer words are no slip of the fingers
  if (word.size() > kLongest) return {};
  std::string_view nearest;
  // A third of the letters may be wrong.
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool is_beginning = word.size() >= 2 && candidate.starts_with(word);
    const size_t distance = is_beginning ? 0 : EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "did you mean `" + std::string(nearest) + "`?";
}

std::string DidYouMeanOneOf(std::string_view word,
                            const std::vector<std::string_view>& candidates) {
  std::string hint = DidYouMean(word, candidates);
  if (!hint.empty()) return hint;
  for (const std::string_view candidate : candidates)
    hint += (hint.empty() ? "one of " : ", ") + std::string(candidate);
  return hint;
}

}  // namespace stowplan
