// SPDX-License-Identifier: Apache-2.0
// Bytes that arrive in pieces and become a Source. Running out of memory is reported, not thrown,
// because sizes come from the input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "stowplan/base/source.h"

namespace stowplan {

class GrowingBuffer {
 public:
  // Room for at least one more byte, at most `limit` bytes in all; false when the limit or the
  // memory is reached.
  [[nodiscard]] bool Grow(size_t limit) {
    if (size_ < capacity_) return true;
    if (capacity_ >= limit) return false;
    return Reserve(std::min(limit, std::max(capacity_ * 2, kFirst)));
  }

  [[nodiscard]] bool Reserve(size_t capacity) {
    if (capacity <= capacity_) return true;
    std::unique_ptr<char[]> bigger(new (std::nothrow) char[capacity + Source::kPadding]);
    if (bigger == nullptr) return false;
    if (size_ != 0) std::memcpy(bigger.get(), data_.get(), size_);
    data_ = std::move(bigger);
    capacity_ = capacity;
    return true;
  }

  [[nodiscard]] char* free_begin() { return data_.get() + size_; }
  [[nodiscard]] size_t free_size() const { return capacity_ - size_; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] std::string_view bytes() const { return {data_.get(), size_}; }
  void Advance(size_t count) { size_ += count; }

  // The bytes, padded as Source requires.
  [[nodiscard]] std::shared_ptr<const Source> ToSource(std::string name) && {
    if (data_ == nullptr) return Source::FromBytes(std::move(name), {});
    std::memset(data_.get() + size_, 0, Source::kPadding);
    return Source::Adopt(std::move(name), std::move(data_), size_);
  }

 private:
  static constexpr size_t kFirst = size_t{1} << 16U;

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace stowplan
