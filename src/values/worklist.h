// SPDX-License-Identifier: Apache-2.0
// A set of small numbers from which the least is taken: one bit for each number, and above each 64
// words of bits one word that says which of them are not zero.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stowplan {

class Worklist {
 public:
  // Holds all numbers below `count`.
  explicit Worklist(size_t count) {
    do {
      levels_.emplace_back((count + 63) / 64, 0);
      for (size_t i = 0; i < count; ++i) Set(levels_.size() - 1, i);
      count = levels_.back().size();
    } while (count > 1);
  }

  void Add(size_t number) {
    for (size_t level = 0; level < levels_.size(); ++level, number /= 64) Set(level, number);
  }

  // The least number, which leaves the set.
  std::optional<size_t> Take() {
    if (levels_.back().empty() || levels_.back()[0] == 0) return std::nullopt;
    size_t number = 0;
    for (size_t level = levels_.size(); level-- != 0;)
      number = number * 64 + static_cast<size_t>(std::countr_zero(levels_[level][number]));
    size_t bit = number;
    for (std::vector<uint64_t>& words : levels_) {
      uint64_t& word = words[bit / 64];
      word &= ~(uint64_t{1} << (bit % 64));
      if (word != 0) break;
      bit /= 64;
    }
    return number;
  }

 private:
  void Set(size_t level, size_t number) {
    levels_[level][number / 64] |= uint64_t{1} << (number % 64);
  }
  std::vector<std::vector<uint64_t>> levels_;
};

}  // namespace stowplan
