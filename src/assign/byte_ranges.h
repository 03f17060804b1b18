// SPDX-License-Identifier: Apache-2.0
// A set of bytes, kept as the fewest ranges there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace stowplan {

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

class ByteRanges {
 public:
  [[nodiscard]] std::span<const ByteRange> ranges() const { return ranges_; }

  void Add(ByteRange range) {
    // Ranges that touch the new one are swallowed.
    const auto first = std::ranges::lower_bound(ranges_, range.begin, {}, &ByteRange::end);
    auto last = first;
    while (last != ranges_.end() && last->begin <= range.end) {
      range.begin = std::min(range.begin, last->begin);
      range.end = std::max(range.end, last->end);
      ++last;
    }
    if (first == last) {
      ranges_.insert(first, range);
      return;
    }
    *first = range;
    ranges_.erase(first + 1, last);
  }

 private:
  std::vector<ByteRange> ranges_;  // ascending, apart
};

}  // namespace stowplan
