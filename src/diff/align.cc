// SPDX-License-Identifier: Apache-2.0
#include "diff/align.h"

#include <cstdlib>

namespace stowplan::diff {
namespace {

// So that no value costs more than a hundred steps or so.
constexpr size_t kMostCells = 1U << 16U;

std::vector<size_t> Nearest(const std::vector<int64_t>& few, const std::vector<int64_t>& many) {
  std::vector<size_t> to;
  to.reserve(few.size());
  size_t next = 0;
  for (size_t i = 0; i < few.size(); ++i) {
    const size_t last = many.size() - few.size() + i;  // leaves enough for the rest
    while (next < last && std::abs(many[next + 1] - few[i]) < std::abs(many[next] - few[i])) ++next;
    to.push_back(next++);
  }
  return to;
}

}  // namespace

std::vector<size_t> Align(const std::vector<int64_t>& few, const std::vector<int64_t>& many) {
  const size_t spare = many.size() - few.size();
  const size_t width = spare + 1;
  if (few.size() > kMostCells / width) return Nearest(few, many);
  // best[s]: the least sum for few[0..i] when few[i] goes to many[i + s'] with some s' <= s.
  std::vector<int64_t> best(width, 0);
  std::vector<uint8_t> is_taken(few.size() * width);  // few[i] goes to many[i + s], not to less
  for (size_t i = 0; i < few.size(); ++i) {
    for (size_t s = 0; s < width; ++s) {
      const int64_t here = best[s] + std::abs(many[i + s] - few[i]);
      const bool takes = s == 0 || here < best[s - 1];
      is_taken[i * width + s] = takes ? 1 : 0;
      best[s] = takes ? here : best[s - 1];
    }
  }
  std::vector<size_t> to(few.size());
  size_t s = spare;
  for (size_t i = few.size(); i-- > 0;) {
    while (is_taken[i * width + s] == 0) --s;
    to[i] = i + s;
  }
  return to;
}

}  // namespace stowplan::diff
