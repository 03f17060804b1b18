// SPDX-License-Identifier: Apache-2.0
// Lists of numbers in one block of memory, for graphs that are built once and read often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stowplan::order {

class Lists {
 public:
  Lists() = default;
  // `pairs`: a list, and a number in it. Each list keeps the order of `pairs`.
  Lists(size_t count, std::span<const std::pair<uint32_t, uint32_t>> pairs)
      : begins_(count + 1, 0), items_(pairs.size()) {
    for (const auto& [list, item] : pairs) ++begins_[list + 1];
    for (size_t i = 0; i < count; ++i) begins_[i + 1] += begins_[i];
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (const auto& [list, item] : pairs) items_[next[list]++] = item;
  }

  [[nodiscard]] size_t size() const { return begins_.empty() ? 0 : begins_.size() - 1; }
  // Of all lists together.
  [[nodiscard]] size_t total() const { return items_.size(); }
  [[nodiscard]] std::span<const uint32_t> operator[](size_t list) const {
    return std::span(items_).subspan(begins_[list], begins_[list + 1] - begins_[list]);
  }

 private:
  std::vector<uint32_t> begins_;
  std::vector<uint32_t> items_;
};

}  // namespace stowplan::order
