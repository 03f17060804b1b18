// SPDX-License-Identifier: Apache-2.0
// Memory for the nodes of trees that come and go: freed nodes are kept for the next ones, and all
// of them go at once with the pool.
//
// std::pmr::unsynchronized_pool_resource does the same, but that of libstdc++ crashes when there is
// no memory left: it drops the exception and goes on (_Pool::replenish). This one throws.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>

namespace stowplan::check {

class NodePool : public std::pmr::memory_resource {
 private:
  static constexpr size_t kStep = alignof(std::max_align_t);
  static constexpr size_t kLargest = 16 * kStep;  // what is larger is not used again
  struct Free {
    Free* next;
  };

  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes > kLargest || alignment > kStep) return arena_.allocate(bytes, alignment);
    const size_t steps = StepsOf(bytes);
    Free*& first = free_[steps];
    if (first == nullptr) return arena_.allocate(steps * kStep, kStep);
    return std::exchange(first, first->next);
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    if (bytes > kLargest || alignment > kStep) return;
    Free*& first = free_[StepsOf(bytes)];
    first = new (memory) Free{first};
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  static size_t StepsOf(size_t bytes) { return bytes == 0 ? 1 : (bytes + kStep - 1) / kStep; }

  std::pmr::monotonic_buffer_resource arena_;
  std::array<Free*, kLargest / kStep + 1> free_ = {};  // by size, in steps
};

}  // namespace stowplan::check
