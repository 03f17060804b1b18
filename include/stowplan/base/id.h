// SPDX-License-Identifier: Apache-2.0
// Typed 32-bit indices: an index into one table cannot be used on another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stowplan {

// An index into the table of `Tag`s. The default value is "none".
template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffU;
  uint32_t index = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t i) : index(static_cast<uint32_t>(i)) {}
  [[nodiscard]] constexpr bool is_none() const { return index == kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// A run of rows [begin, begin + count) of some table.
struct Range {
  uint32_t begin = 0;
  uint32_t count = 0;
  friend constexpr bool operator==(Range, Range) = default;
};

// A vector that is indexed by ids of type `I` only.
template <class I, class T>
class Table {
 public:
  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] I next_id() const { return I(rows_.size()); }
  I Add(T row) {
    const I id = next_id();
    rows_.push_back(std::move(row));
    return id;
  }
  const T& operator[](I id) const { return rows_[id.index]; }
  T& operator[](I id) { return rows_[id.index]; }
  [[nodiscard]] std::span<const T> rows() const { return rows_; }
  void Reserve(size_t n) { rows_.reserve(n); }

 private:
  std::vector<T> rows_;
};

}  // namespace stowplan
