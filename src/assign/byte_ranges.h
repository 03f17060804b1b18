// SPDX-License-Identifier: Apache-2.0
// A set of bytes, kept as the smallest number of ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace stowplan {

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// There are millions of these sets, and nearly all hold one range, which is stored in the set
// itself.
class ByteRanges {
 public:
  [[nodiscard]] std::span<const ByteRange> ranges() const { return {data(), size_}; }

  // False if the set had all of it before.
  bool Add(ByteRange range) {
    ByteRange* const all = data();
    ByteRange* const stop = all + size_;
    // Ranges that touch the new one are merged into it.
    ByteRange* const first = std::lower_bound(
        all, stop, range.begin, [](const ByteRange& r, int64_t at) { return r.end < at; });
    if (first != stop && first->begin <= range.begin && range.end <= first->end) return false;
    ByteRange* last = first;
    for (; last != stop && last->begin <= range.end; ++last) {
      range.begin = std::min(range.begin, last->begin);
      range.end = std::max(range.end, last->end);
    }
    if (first == last) {
      Insert(static_cast<uint32_t>(first - all), range);
      return true;
    }
    *first = range;
    std::copy(last, stop, first + 1);
    size_ -= static_cast<uint32_t>(last - first) - 1;
    return true;
  }

 private:
  [[nodiscard]] const ByteRange* data() const { return many_ ? many_.get() : &one_; }
  [[nodiscard]] ByteRange* data() { return many_ ? many_.get() : &one_; }

  void Insert(uint32_t at, ByteRange range) {
    if (size_ == capacity_) {
      capacity_ *= 2;
      auto larger = std::make_unique<ByteRange[]>(capacity_);
      std::copy_n(data(), size_, larger.get());
      many_ = std::move(larger);
    }
    ByteRange* const all = data();
    std::copy_backward(all + at, all + size_, all + size_ + 1);
    all[at] = range;
    ++size_;
  }

  ByteRange one_;
  std::unique_ptr<ByteRange[]> many_;  // instead of one_, if there are more
  uint32_t size_ = 0;
  uint32_t capacity_ = 1;
};

}  // namespace stowplan
